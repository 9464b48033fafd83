"""Calls of models that any program made: taken in, shown, asked again, judged."""

from preflights_es.kernel.feature import Feature

FEATURE = Feature(
    "calls",
    __name__,
    workflow="domain:WORKFLOW",
    shown="commands:SHOWN",
    offers={
        "erased": "kept_answers:erase_kept_answers",
        "kept_files": "kept_answers:list_answer_files",
        "pairs": "pairs:CallPairs",
        "blind_run": "blind_pairs:BlindRun",
    },
    commands={
        "calls": ("group:calls_command", "Take in, show and judge the calls of any program."),
        "calls import": ("commands:import_command", "Take in the calls that a file holds."),
        "calls record": ("record_commands:record_command", "Run a program and record its calls."),
        "calls replay": ("record_commands:replay_command", "Run it with the recorded answers."),
        "calls list": ("commands:list_command", "List the sessions of calls: the default."),
        "calls show": ("commands:show_command", "Print a conversation as people read it."),
        "calls judge": ("judge_commands:judge_command", "Say which answers are right."),
        "calls erase": ("commands:erase_command", "Erase sessions of calls for good."),
    },
)
