"""Notes on the command line."""

from typing import Final

_NOTE: Final = "workflows.extraction.note"
_BY_HAND: Final = "workflows.extraction.by_hand"
_LISTS: Final = "workflows.extraction.lists"

COMMANDS: Final = {
    "note": ("workflows.extraction.group", "Write down tasks, events and ideas, and list them."),
    "note take": (_NOTE, "Take a note: the default, `take` can be left out."),
    "note list": (_LISTS, "List the notes of this project."),
    "note tasks": (_LISTS, "List the open tasks."),
    "note events": (_LISTS, "List the events: meetings, appointments."),
    "note ideas": (_LISTS, "List the ideas."),
    "note add": (_BY_HAND, "File a task, an event or an idea by hand."),
    "note done": (_BY_HAND, "Mark a task as done."),
    "note cancel": (_BY_HAND, "Cancel a task: it will not be done."),
    "note edit": (_BY_HAND, "Change what a task or an event says."),
}
"""Module and one line of help."""
