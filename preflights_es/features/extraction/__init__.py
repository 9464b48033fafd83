"""A note becomes tasks, events and ideas, with at most one question (seed 3)."""

from preflights_es.kernel.feature import Feature

FEATURE = Feature(
    "extraction",
    __name__,
    workflow="domain:WORKFLOW",
    session="use.results:SESSION",
    start="use.sessions:start",
    bank="domain.simulation:BANK",
    references="domain.simulation:REFERENCES",
    shown="commands.display:SHOWN",
    commands={
        "note": (
            "commands.group:note_command",
            "Write down tasks, events and ideas, and list them.",
        ),
        "note take": (
            "commands.note:take_command",
            "Take a note: the default, `take` can be left out.",
        ),
        "note list": ("commands.lists:list_command", "List the notes of this project."),
        "note tasks": ("commands.lists:tasks_command", "List the open tasks."),
        "note events": (
            "commands.lists:events_command",
            "List the events: meetings, appointments.",
        ),
        "note ideas": ("commands.lists:ideas_command", "List the ideas."),
        "note add": ("commands.by_hand:add_command", "File a task, an event or an idea by hand."),
        "note done": ("commands.by_hand:done_command", "Mark a task as done."),
        "note cancel": ("commands.by_hand:cancel_command", "Cancel a task: it will not be done."),
        "note edit": ("commands.by_hand:edit_command", "Change what a task or an event says."),
    },
)
