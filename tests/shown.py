"""The commands that README and documentation show."""

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
_STUDY = re.compile(r"python studies/([a-z]\w+)\.py\b([^`\n]*)")
_TOOL = re.compile(r"(?<=^\$ vibayes ).+$|(?<=`vibayes )[a-z]+ [^`\n]+", re.MULTILINE)


@cache
def of_studies() -> dict[str, str]:
    """The options of each study's longest command, where ``N`` is any seed."""
    found: dict[str, str] = {}
    for page in PAGES:
        for study, options in _STUDY.findall(page.read_text(encoding="utf-8")):
            options = options.replace("--seed N", "--seed 1").strip()
            found[study] = max(found.get(study, ""), options, key=len)
    return found


def of_the_tool(page: str) -> list[str]:
    """What follows ``vibayes`` in the commands of a page. Within a sentence a single word only names a command."""
    return list(dict.fromkeys(_TOOL.findall((ROOT / page).read_text(encoding="utf-8"))))
