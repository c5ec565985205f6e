"""A student's questions: a self-contained page, which can be answered without scripts, and a part of the feedback page."""

import base64
import hashlib
import json

from gradekit_integrity.defend.records import EARLIER, Issued
from gradekit_integrity.viva.files import listing, page_html

#: saves the answers as a file; without it, the page says how to write that file
_SCRIPT = """
const button = document.getElementById("save"), said = document.getElementById("said");
const wanted = JSON.parse(document.getElementById("line").textContent);
button.hidden = false;
button.onclick = () => {
  for (const number in wanted.answers) {
    const chosen = document.querySelector(`input[name="${number}"]:checked`);
    if (!chosen) {
      said.textContent = `Question ${number} has no answer yet.`;
      document.querySelector(`input[name="${number}"]`).focus();
      return;
    }
    wanted.answers[number] = chosen.value;
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(wanted)], {type: "application/json"}));
  link.download = "defense.json";
  link.click();
  said.textContent = "Saved as defense.json.";
};
"""


def defense_as_html(
    assignment: str, sheet: Issued, sources: dict[tuple[str, str], str], due: str = ""
) -> str:
    """The page, with all text from the student escaped, and without the right options.

    Args:
        sources: of the cells that are asked about, by notebook and cell.
        due: when the answers are due, in words.
    """
    digest = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
    return page_html(
        "defense.html.j2",
        assignment=assignment,
        due=due,
        script=_SCRIPT,
        script_hash=f"sha256-{digest}",
        **_asked(sheet, sources),
    )


def section_as_html(sheet: Issued, sources: dict[tuple[str, str], str], due: str = "") -> str:
    """The same questions as part of a page without scripts; once they are marked, how many answers are right."""
    outcome = sheet.right and (sum(sheet.right.values()), len(sheet.questions))
    return page_html(
        "defense_section.html.j2",
        due=due,
        script="",
        outcome=outcome,
        off=round(sum(sheet.deducted.values()), 2),
        came=bool(sheet.all_notes),
        earlier=all(note.endswith(EARLIER) for note in sheet.all_notes),
        **_asked(sheet, sources),
    )


def _asked(sheet: Issued, sources: dict[tuple[str, str], str]) -> dict[str, object]:
    """What the templates show of the questions and of the code that they are about."""
    places: dict[tuple[str, str], list[int]] = {}
    for number, one in enumerate(sheet.questions, 1):
        places.setdefault((one.notebook, one.cell), []).append(number)
    answers = {str(number): "?" for number in range(1, len(sheet.questions) + 1)}
    return {
        "sheet": sheet,
        "places": list(places.items()),
        "listings": {
            place: listing(sources[place], {sheet.questions[number - 1].line for number in numbers})
            for place, numbers in places.items()
        },
        "line": json.dumps({"sheet": sheet.id, "answers": answers}),
    }
