"""How a page looks: on a desk, on a phone, in the dark and on paper. Colours survive colour blindness and greyscale."""

from __future__ import annotations

LIGHT = {
    "ink": "#1b2127", "soft": "#55606a", "line": "#d5dbe0", "paper": "#ffffff", "tint": "#f0f5f9", "link": "#005a8f",
    "blue": "#0072b2", "orange": "#c04f00", "green": "#007a5a", "pink": "#a8457b", "measured": "#555555",
    "good": "#00634a", "notice": "#005a8f", "warning": "#8a4b00", "serious": "#a3161f",
}  # fmt: skip
DARK = {
    "ink": "#e6eaee", "soft": "#a5b0ba", "line": "#3b454e", "paper": "#14181c", "tint": "#1d262e", "link": "#7cc4f0",
    "blue": "#56b4e9", "orange": "#f0883e", "green": "#2fc49a", "pink": "#e59ac4", "measured": "#b4bec7",
    "good": "#5fd0a8", "notice": "#7cc4f0", "warning": "#f2b45c", "serious": "#ff8f8f",
}  # fmt: skip
_BANDS = "blue", "orange", "green", "pink", "measured"


def _variables(colours: dict[str, str]) -> str:
    plain = [f"--{name}: {value};" for name, value in colours.items()]
    return " ".join([*plain, *(f"--{name}-band: {colours[name]}44;" for name in _BANDS)])


STYLE = f"""
:root {{ color-scheme: light dark; {_variables(LIGHT)} }}
@media (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)} }} }}
""" + """
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main, header, footer { max-width: 58rem; margin: 0 auto; padding: 0 1rem; }
header { padding-top: 1.6rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 0.3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; line-height: 1.25; margin: 2.6rem 0 0.6rem; padding-top: 0.5rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.6rem 0 0.4rem; }
a { color: var(--link); }
a:focus-visible, select:focus-visible, summary:focus-visible, .table:focus-visible, pre:focus-visible {
  outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 0.5rem; top: 0.5rem; background: var(--paper); padding: 0.4rem 0.8rem; z-index: 9; }
.lead, .soft, caption, figcaption, footer { color: var(--soft); }
nav ul { list-style: none; padding: 0; margin: 0.8rem 0 0; display: flex; flex-wrap: wrap; gap: 0.25rem 1.1rem; }
nav a { display: inline-block; padding: 0.15rem 0; }
.verdict { background: var(--tint); border-left: 5px solid var(--blue); border-radius: 4px; padding: 0.9rem 1.1rem;
  margin: 1.2rem 0; }
.verdict p { margin: 0.3rem 0; }
.verdict p:first-child { font-size: 1.2rem; line-height: 1.4; }
.findings { list-style: none; padding: 0; margin: 0.6rem 0; }
.findings li { border-left: 5px solid var(--line); padding: 0.35rem 0 0.35rem 0.9rem; margin: 0.5rem 0; }
.findings .good { border-color: var(--good); } .findings .notice { border-color: var(--notice); }
.findings .warning { border-color: var(--warning); } .findings .serious { border-color: var(--serious); }
.tag { display: inline-block; font-size: 0.8rem; font-weight: 700; text-transform: uppercase; letter-spacing: 0.04em;
  margin-right: 0.5rem; }
.good .tag { color: var(--good); } .notice .tag { color: var(--notice); }
.warning .tag { color: var(--warning); } .serious .tag { color: var(--serious); }
.remedy { display: block; color: var(--soft); }
.table { overflow-x: auto; margin: 0.8rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; min-width: 60%; }
caption { text-align: left; font-size: 0.9rem; padding-bottom: 0.3rem; }
th, td { padding: 0.35rem 1.1rem 0.35rem 0; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--line); }
thead th { color: var(--soft); font-weight: 600; font-size: 0.9rem; vertical-align: bottom; }
th:first-child { text-align: left; }
tbody th { font-weight: 600; } .unit { font-weight: 400; color: var(--soft); }
.spark { width: 96px; height: 29px; vertical-align: middle; }
.spark rect { fill: var(--blue); } .spark polyline { fill: none; stroke: var(--soft); stroke-width: 1.2; }
figure { margin: 1rem 0 1.4rem; }
figcaption { font-size: 0.93rem; margin-top: 0.3rem; }
.still { display: block; max-width: 100%; height: auto; background: #fff; border-radius: 4px; }
.plot { display: none; width: 100%; }
.live > .plot { display: block; } .live > .still { display: none; }
.plot .modebar-container { top: auto !important; bottom: 30px; }  /* where no legend is */
.chooser { display: none; gap: 0.4rem 1.2rem; flex-wrap: wrap; margin-bottom: 0.3rem; }
.live > .chooser { display: flex; }
select { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--soft); border-radius: 4px;
  padding: 0.2rem 0.4rem; max-width: 60vw; }
summary { cursor: pointer; padding: 0.25rem 0; }
pre { background: var(--tint); padding: 0.7rem 0.9rem; border-radius: 4px; overflow-x: auto; font-size: 0.92rem; }
code { font-family: ui-monospace, "SF Mono", Consolas, monospace; }
footer { font-size: 0.9rem; padding-top: 2rem; padding-bottom: 2.5rem; }
@media (max-width: 40rem) {
  h1 { font-size: 1.45rem; } h2 { font-size: 1.2rem; }
  table { font-size: 0.9rem; } th, td { padding-right: 0.6rem; } .verdict p:first-child { font-size: 1.1rem; }
}
@media print {
  :root { color-scheme: light; @@LIGHT@@ }
  body { font-size: 10.5pt; } main, header, footer { max-width: none; }
  nav, .skip, .chooser, .live > .chooser { display: none; }
  .live > .plot { display: none; } .live > .still { display: block; max-height: 21cm; }
  figure, .verdict, .findings li, tr { break-inside: avoid; } h2, h3 { break-after: avoid; }
  .table { overflow: visible; } a { color: inherit; text-decoration: none; }
}
""".replace("@@LIGHT@@", _variables(LIGHT))
