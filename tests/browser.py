"""A real browser for tests of pages: a copy of the page with a script that looks at it, and what the script found."""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --allow-file-access-from-files"
).split()
_HEAR = """<script>
window.heard = [];
addEventListener("error", (event) => heard.push(String(event.message)));
addEventListener("unhandledrejection", (event) => heard.push(String(event.reason)));
for (const kind of ["error", "warn"]) {
  const before = console[kind];
  console[kind] = (...words) => { heard.push(words.join(" ")); before(...words); };
}
</script>"""
_ASK = """<script>
(async () => {
  const page = document.documentElement.dataset;
  for (let i = 0; i < 400 && !page.ready; i++) await new Promise((go) => setTimeout(go, 50));
  let found;
  try { found = await (async () => { @@QUESTION@@ })(); } catch (error) { found = { error: String(error) }; }
  const place = document.createElement("pre");
  place.id = "found";
  place.textContent = JSON.stringify({ found, heard });
  document.body.append(place);
})();
</script>"""


def asked(page: Path, question: str, folder: Path, width: int = 1280, extra: str = "") -> dict[str, Any]:
    """What a script says that runs in a page once its figures are drawn, and errors and warnings that were heard.

    Windows narrower than 500 pixels cannot be had, so the page is put into a frame of the width that is wanted.
    """
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    text = page.read_text(encoding="utf-8").replace("<head>", "<head>" + _HEAR, 1)
    text = text.replace("</body>", extra + _ASK.replace("@@QUESTION@@", question) + "</body>", 1)
    copy, frame = folder / "asked.html", folder / "frame.html"
    copy.write_text(text, encoding="utf-8")
    frame.write_text(
        f'<!DOCTYPE html><title>frame</title><iframe src="asked.html" style="width:{width}px;height:900px;border:0">'
        "</iframe><script>setInterval(() => {"
        'const found = document.querySelector("iframe").contentDocument?.getElementById("found");'
        'if (found && !document.getElementById("found")) document.body.append(found.cloneNode(true)); }, 50);</script>',
        encoding="utf-8",
    )
    profile = folder / "profile"
    command = [CHROMIUM, *_FLAGS, f"--user-data-dir={profile}", f"--window-size={max(width, 500)},900"]
    command += ["--virtual-time-budget=25000", "--dump-dom", frame.as_uri()]
    try:
        dom = subprocess.run(command, capture_output=True, text=True, timeout=150, check=False).stdout
    finally:
        shutil.rmtree(profile, ignore_errors=True)
    match = re.search(r'<pre id="found">(.*?)</pre>', dom, re.DOTALL)
    assert match, f"the page did not answer: {dom[-500:]}"
    return json.loads(unescape(match[1]))
