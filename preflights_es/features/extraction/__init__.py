"""A note becomes tasks, events and ideas, with at most one question (seed 3)."""

from preflights_es.kernel.feature import Feature

FEATURE = Feature(
    "extraction",
    __name__,
    workflow="domain:WORKFLOW",
    refusal="use:note_refusal",
    start="use:start_note",
    bank="domain.rules:BANK",
    shown="commands:SHOWN",
    commands={
        "note": ("group:note_command", "Write down tasks, events and ideas, and list them."),
        "note take": ("commands:take_command", "Take a note: the default, `take` can be left out."),
        "note list": ("commands:list_command", "List open tasks, events and ideas."),
        "note add": ("commands:add_command", "File a task, an event or an idea by hand."),
        "note done": ("commands:done_command", "Mark a task as done."),
        "note cancel": ("commands:cancel_command", "Cancel an item: it goes off the list."),
    },
)
