"""Notes and what a sensible person finds in them; written as `told` writes an item.

Each row is a note and its items: type, title, `@` start and end, `~` minutes, `!` importance.
"""

from __future__ import annotations

from typing import Final

Row = tuple[str, ...]

SEED: Final[tuple[Row, ...]] = (
    (
        "Email an Chef, Meeting 14 Uhr, Präsentation fertig",
        "task: Email an Chef",
        "event: Meeting @14:00",
        "task: Präsentation fertig",
    ),
    ("Arzt", "event: Arzt"),
    ("Email an Chef schreiben 10-15 min", "task: Email an Chef schreiben ~10-15"),
    (
        "Milch kaufen, 30 min joggen, Idee: Podcast",
        "task: Milch kaufen",
        "task: joggen ~30-30",
        "idea: Podcast",
    ),
    ("call mom at 2:30 pm", "event: call mom @14:30"),
    (
        "Dentist on Monday, finish the slides (urgent)",
        "event: Dentist on Monday",
        "task: finish the slides !high",
    ),
)
"""What the seed and the commands' own examples say."""

LISTS: Final[tuple[Row, ...]] = (
    ("- milk\n- eggs\n- bread", "task: milk", "task: eggs", "task: bread"),
    ("* eins\n* zwei", "task: eins", "task: zwei"),
    ("-milk\n-eggs", "task: milk", "task: eggs"),
    ("1. first\n2. second", "task: first", "task: second"),
    ("1) one\n2) two\n3) three", "task: one", "task: two", "task: three"),
    ("[ ] wash the car\n[ ] water plants", "task: wash the car", "task: water plants"),
    ("- [ ] wash the car\n- [x] water plants", "task: wash the car", "task: [x] water plants"),
    ("☐ Auto waschen\n☐ Blumen gießen", "task: Auto waschen", "task: Blumen gießen"),
    ("eins • zwei • drei", "task: eins", "task: zwei", "task: drei"),
    ("milk; eggs; bread", "task: milk", "task: eggs", "task: bread"),
    ("a,b,c", "task: a", "task: b", "task: c"),
    ("Milch, Eier und Brot", "task: Milch", "task: Eier und Brot"),
    ("buy milk and then call Bob", "task: buy milk", "task: call Bob"),
    ("Milch kaufen und dann Bob anrufen", "task: Milch kaufen", "task: Bob anrufen"),
    (
        "Email boss. Meeting at 2 pm. Finish slides.",
        "task: Email boss",
        "event: Meeting @14:00",
        "task: Finish slides",
    ),
    ("Call Dr. Smith. Buy milk!", "task: Call Dr. Smith", "task: Buy milk"),
    ("z.B. Milch kaufen", "task: z.B. Milch kaufen"),
    ("Mo. Arzt um 9 Uhr", "event: Mo. Arzt @09:00"),
    ("Milk\n\n\nBread", "task: Milk", "task: Bread"),
    ("Milch,, ,Brot;", "task: Milch", "task: Brot"),
    ("Meeting, 14 Uhr, 30 min", "event: Meeting @14:00-14:30"),
    ("Rechnung zahlen, dringend", "task: Rechnung zahlen !high"),
    ("14 Uhr", "event: 14 Uhr @14:00"),
    ("30 min", "task: 30 min ~30-30"),
    ("1. Advent feiern", "task: 1. Advent feiern"),
    ("3. Oktober Ausflug", "task: 3. Oktober Ausflug"),
)

TIMES: Final[tuple[Row, ...]] = (
    ("Meeting 14 Uhr", "event: Meeting @14:00"),
    ("Meeting um 14 Uhr", "event: Meeting @14:00"),
    ("Meeting gegen 14.30 Uhr", "event: Meeting @14:30"),
    ("Meeting 14:30", "event: Meeting @14:30"),
    ("Mittagessen mit Anna 12:30h", "event: Mittagessen mit Anna @12:30"),
    ("Essen 14 Uhr 30", "event: Essen @14:30"),
    ("Tee 3 Uhr nachmittags", "event: Tee @15:00"),
    ("Kino 8 Uhr abends", "event: Kino @20:00"),
    ("Freitag Abend 8 Uhr Kino", "event: Freitag Abend Kino @20:00"),
    ("heute Nachmittag um 3 Uhr Tee", "event: heute Nachmittag Tee @15:00"),
    ("Zug 17:03 Gleis 4", "event: Zug Gleis 4 @17:03"),
    ("standup 9am", "event: standup @09:00"),
    ("standup 9 am", "event: standup @09:00"),
    ("standup at 9 a.m.", "event: standup @09:00"),
    ("tea 2.30pm", "event: tea @14:30"),
    ("tea 2:30 p.m.", "event: tea @14:30"),
    ("lunch at noon", "event: lunch @12:00"),
    ("Silvester um Mitternacht", "event: Silvester @00:00"),
    ("midnight call with Tokyo", "event: call with Tokyo @00:00"),
    ("12 am call with Bob", "event: call with Bob @00:00"),
    ("12:30 pm lunch", "event: lunch @12:30"),
    ("call 8 am Monday", "event: call Monday @08:00"),
    ("Meeting 14:30 am Montag", "event: Meeting am Montag @14:30"),
    ("Meeting mit Dr. Müller um 10 Uhr", "event: Meeting mit Dr. Müller @10:00"),
    ("00:15 Bus", "event: Bus @00:15"),
    ("7 uhr Lauf", "event: Lauf @07:00"),
    ("8am STANDUP", "event: STANDUP @08:00"),
    ("Meeting @ 14:30", "event: Meeting @14:30"),
    ("tomorrow 3pm: dentist", "event: tomorrow: dentist @15:00"),
    ("14:00: Meeting", "event: Meeting @14:00"),
    ("12 Uhr mittags Essen", "event: Essen @12:00"),
    ("Essen um 19h", "event: Essen @19:00"),
    ("walk 7:00 in the evening", "event: walk @19:00"),
    ("run 7:00 in the morning", "event: run @07:00"),
    ("Yoga (18:30)", "event: Yoga @18:30"),
    ("Yoga [18:30]", "event: Yoga @18:30"),
    ("ICE 1234 ab 14:04 an 18:30", "event: ICE 1234 an 18:30 @14:04"),
)

RANGES: Final[tuple[Row, ...]] = (
    ("Meeting 14-15 Uhr", "event: Meeting @14:00-15:00"),
    ("Meeting von 14 bis 15 Uhr", "event: Meeting @14:00-15:00"),
    ("Meeting von 14 Uhr bis 15 Uhr", "event: Meeting @14:00-15:00"),
    ("Termin von 9 Uhr bis 10 Uhr 30", "event: Termin @09:00-10:30"),
    ("Workshop 9.30\u201311 Uhr", "event: Workshop @09:30-11:00"),
    ("Standup 9:30-9:45", "event: Standup @09:30-09:45"),
    ("Workshop 9:00 to 12:30", "event: Workshop @09:00-12:30"),
    ("Meeting 2-3pm", "event: Meeting @14:00-15:00"),
    ("Meeting from 2 pm to 3:30 pm", "event: Meeting @14:00-15:30"),
    ("Meeting 11-1 pm", "event: Meeting @11:00-13:00"),
    ("Meeting 10am-11am", "event: Meeting @10:00-11:00"),
    ("Meeting 14 Uhr 30 min", "event: Meeting @14:00-14:30"),
    ("Meeting at 2 pm for 1 hour", "event: Meeting @14:00-15:00"),
    ("Meeting um 14 Uhr für 2 Stunden", "event: Meeting @14:00-16:00"),
    ("Meeting 14 Uhr 30-45 min", "event: Meeting @14:00-14:45"),
    ("Party 23:30, 2 h", "event: Party, 2 h @23:30"),
)

DEADLINES: Final[tuple[Row, ...]] = (
    ("Bericht bis 14 Uhr", "task: Bericht bis 14 Uhr"),
    ("Bericht bis um 14 Uhr", "task: Bericht bis um 14 Uhr"),
    ("Abgabe vor 12:00", "task: Abgabe vor 12:00"),
    ("spätestens 17 Uhr losfahren", "task: spätestens 17 Uhr losfahren"),
    ("Report by 2 pm", "task: Report by 2 pm"),
    ("send the report before 5pm", "task: send the report before 5pm"),
    ("Bericht dringend bis 14 Uhr", "task: Bericht bis 14 Uhr !high"),
    ("Steuererklärung bis Montag", "task: Steuererklärung bis Montag"),
)
"""Something is due by then: it does not happen then."""

DURATIONS: Final[tuple[Row, ...]] = (
    ("30 min joggen", "task: joggen ~30-30"),
    ("Yoga ~20 min", "task: Yoga ~20-20"),
    ("ca. 20 min Yoga", "task: Yoga ~20-20"),
    ("etwa 20 Minuten Yoga", "task: Yoga ~20-20"),
    ("Yoga für 30 Minuten", "task: Yoga ~30-30"),
    ("Joggen 1 h", "task: Joggen ~60-60"),
    ("Joggen 1,5 h", "task: Joggen ~90-90"),
    ("jog 1.5 hours", "task: jog ~90-90"),
    ("Joggen 1h30", "task: Joggen ~90-90"),
    ("Joggen 1 h 30 min", "task: Joggen ~90-90"),
    ("read 30-45 minutes", "task: read ~30-45"),
    ("read 30 to 45 min", "task: read ~30-45"),
    ("Gym 1 h bis 90 min", "task: Gym ~60-90"),
    ("Steuer 1-2 Stunden", "task: Steuer ~60-120"),
    ("eine halbe Stunde lesen", "task: lesen ~30-30"),
    ("read for half an hour", "task: read ~30-30"),
    ("nap for an hour", "task: nap ~60-60"),
    ("yoga for an hour and a half", "task: yoga ~90-90"),
    ("eine Viertelstunde aufräumen", "task: aufräumen ~15-15"),
    ("8 h wandern", "task: wandern ~480-480"),
    ("10 h wandern", "task: 10 h wandern"),
    ("0 min warten", "task: 0 min warten"),
    ("1000 min", "task: 1000 min"),
    ("gym 60-45 min", "task: gym 60-45 min"),
    ("in 30 min Kaffee holen", "task: in 30 min Kaffee holen"),
    ("Call Bob in 30 min", "task: Call Bob in 30 min"),
    ("vor 30 min gegessen", "task: vor 30 min gegessen"),
    ("alle 30 min lüften", "task: alle 30 min lüften"),
    ("every 2 hours stretch", "task: every 2 hours stretch"),
    ("jede halbe Stunde aufstehen", "task: jede halbe Stunde aufstehen"),
    ("nap in an hour", "task: nap in an hour"),
    ("emailed Bob an hour ago", "task: emailed Bob an hour ago"),
    ("3 x 20 min laufen", "task: 3 x 20 min laufen"),
    ("1 Stunde 30 Minuten lesen", "task: lesen ~90-90"),
    ("1 hour and 30 minutes of yoga", "task: of yoga ~90-90"),
    ("1 hour and 5 minutes of yoga", "task: of yoga ~65-65"),
    ("1 Std. Sport", "task: Sport ~60-60"),
    ("1/2 h Sport", "task: 1/2 h Sport"),
    ("gym 30 min 20 Leute", "task: gym 20 Leute ~30-30"),
    ("30-min run", "task: 30-min run"),
)

URGENCY: Final[tuple[Row, ...]] = (
    ("Wichtig: Rechnung bezahlen", "task: Rechnung bezahlen !high"),
    ("Rechnung bezahlen!!!", "task: Rechnung bezahlen !high"),
    ("Rechnung bezahlen!", "task: Rechnung bezahlen"),
    ("URGENT: pay rent", "task: pay rent !high"),
    ("pay rent asap", "task: pay rent !high"),
    ("pay the rent (urgent!)", "task: pay the rent !high"),
    ("sofort Oma anrufen", "task: Oma anrufen !high"),
    ("nicht wichtig: Keller", "task: Keller !low"),
    ("nicht so wichtig: Keller", "task: Keller !low"),
    ("not very important: clean garage", "task: clean garage !low"),
    ("no rush: clean the garage", "task: clean the garage !low"),
    ("irgendwann Keller aufräumen", "task: Keller aufräumen !low"),
    ("unwichtig: Socken", "task: Socken !low"),
    ("Meeting 14 Uhr (wichtig)", "event: Meeting (wichtig) @14:00"),
    ("dringend: Arzttermin", "event: dringend: Arzttermin"),
    ("wichtig", "task: wichtig !high"),
    ("dringend!!", "task: dringend!! !high"),
    ("Steuer (2-3 Stunden, wichtig)", "task: Steuer ~120-180 !high"),
    ("!!! call Bob", "task: call Bob !high"),
)

IDEAS: Final[tuple[Row, ...]] = (
    ("Idee: Podcast", "idea: Podcast"),
    ("Idee - Podcast", "idea: Podcast"),
    ("idea: sell tea", "idea: sell tea"),
    ("Gedanke: mehr Schlaf", "idea: mehr Schlaf"),
    ("Vielleicht einen Podcast machen", "idea: Vielleicht einen Podcast machen"),
    ("maybe a podcast", "idea: maybe a podcast"),
    ("What if we sold tea?", "idea: What if we sold tea?"),
    ("Idee", "task: Idee"),
    ("Ideen sammeln", "task: Ideen sammeln"),
    ("Idee-Sammlung anlegen", "task: Idee-Sammlung anlegen"),
)

NUMBERS: Final[tuple[Row, ...]] = (
    ("Pizza 14,50 Euro", "task: Pizza 14,50 Euro"),
    ("14,50 Euro an Tom überweisen", "task: 14,50 Euro an Tom überweisen"),
    ("Buch für 20,- kaufen", "task: Buch für 20,- kaufen"),
    ("14.50 Euro", "task: 14.50 Euro"),
    ("upgrade to python 3.11", "task: upgrade to python 3.11"),
    ("Version 3.11 installieren", "task: Version 3.11 installieren"),
    ("Call 0171 1234567", "task: Call 0171 1234567"),
    ("+49 171 1234567 anrufen", "task: +49 171 1234567 anrufen"),
    ("call 555-1234", "task: call 555-1234"),
    ("22.11. Geburtstag Oma", "task: 22.11. Geburtstag Oma"),
    ("22. November Geburtstag", "task: 22. November Geburtstag"),
    ("2026-11-22 Zahnarzt", "event: 2026-11-22 Zahnarzt"),
    ("22.11. um 9 Uhr Zahnarzt", "event: 22.11. Zahnarzt @09:00"),
    ("Montag Zahnarzt", "event: Montag Zahnarzt"),
    ("1/2 Liter Milch", "task: 1/2 Liter Milch"),
    ("Meeting 1/2", "event: Meeting 1/2"),
    ("ratio 16:9", "task: ratio 16:9"),
    ("192.168.10.12 pingen", "task: 192.168.10.12 pingen"),
    ("Marathon in 1:10:30", "task: Marathon in 1:10:30"),
    ("Raum 14:30b suchen", "task: Raum 14:30b suchen"),
    ("Meeting Raum 3 am Montag", "event: Meeting Raum 3 am Montag"),
    ("5 H&M Gutscheine", "task: 5 H&M Gutscheine"),
    ("-5 Grad", "task: -5 Grad"),
    ("24:00 Silvester", "task: 24:00 Silvester"),
    ("25 Uhr", "task: 25 Uhr"),
    ("13 pm", "task: 13 pm"),
    ("dinner at 7", "event: dinner at 7"),
    ("Meeting 9.30", "event: Meeting 9.30"),
)
"""No price, version, number or date is a time; none is lost."""

WORDS: Final[tuple[Row, ...]] = (
    ("Uhrmacher anrufen", "task: Uhrmacher anrufen"),
    ("Stunde null lesen", "task: Stunde null lesen"),
    ("minimal viable product", "task: minimal viable product"),
    ("Wichtigtuer", "task: Wichtigtuer"),
    ("Importantly not", "task: Importantly not"),
    ("Arztbrief lesen", "task: Arztbrief lesen"),
    ("Arzt anrufen", "task: Arzt anrufen"),
    ("Meeting vorbereiten", "task: Meeting vorbereiten"),
    ("prepare meeting", "task: prepare meeting"),
    ("Flug buchen", "task: Flug buchen"),
    ("Feierabend", "task: Feierabend"),
    ("Trainingsplan", "task: Trainingsplan"),
    ("synchronise watches", "task: synchronise watches"),
    ("Terminal", "task: Terminal"),
    ("call Bob", "task: call Bob"),
    ("call with Bob", "event: call with Bob"),
    ("Teambesprechung", "event: Teambesprechung"),
    ("afternoon nap", "task: afternoon nap"),
    ("noonish", "task: noonish"),
    ("call foo() soon", "task: call foo() soon"),
    (".NET lernen", "task: .NET lernen"),
)
"""Words that hold a keyword, or stand beside one."""

LETTERS: Final[tuple[Row, ...]] = (
    ("Zahna\u0308rztin 14 Uhr", "event: Zahnärztin @14:00"),
    ("Yoga fu\u0308r 30 min", "task: Yoga ~30-30"),
    ("spa\u0308testens 17 Uhr da sein", "task: spätestens 17 Uhr da sein"),
    ("Meeting \uff11\uff14 Uhr", "event: Meeting @14:00"),
    ("\uff11\uff14\uff1a\uff13\uff10 Meeting", "event: Meeting @14:30"),
    ("yoga \uff13\uff10 min", "task: yoga ~30-30"),
    ("14:3\uff13 tea", "event: tea @14:33"),
    ("\u0633 \u0661\u0664:\u0663\u0660", "event: \u0633 @14:30"),
    ("halbe \u017ftunde lesen", "task: lesen ~30-30"),
    ("m\u0131dnight tea", "event: tea @00:00"),
    (
        "\u05de\u05d7\u05e8 \u05e4\u05d2\u05d9\u05e9\u05d4 14:30",
        "event: \u05de\u05d7\u05e8 \u05e4\u05d2\u05d9\u05e9\u05d4 @14:30",
    ),
    ("🎉 Party 20 Uhr", "event: 🎉 Party @20:00"),
    ("call mom 📞", "task: call mom 📞"),
    ("Milch, 🎂", "task: Milch", "task: 🎂"),
    ("数据 30 min", "task: 数据 ~30-30"),
)
"""Other forms of the same letters and digits, other scripts, and pictures."""

NOTHING: Final[tuple[Row, ...]] = (
    ("...",),
    ("- - -\n-",),
    (",,,;;;",),
    ("?!",),
    ("()",),
    ("\u200b",),
    ("\n\n",),
    ("\u2026 \u2014",),
)
"""What says nothing."""

LED_BY_TIMES: Final[tuple[Row, ...]] = (
    ("14 Uhr, Meeting mit Team", "event: Meeting mit Team @14:00"),
    ("2:30 pm, call mom, buy milk", "event: call mom @14:30", "task: buy milk"),
    ("14-15 Uhr, Besprechung", "event: Besprechung @14:00-15:00"),
    ("14 Uhr, Meeting, 15 Uhr, Arzt", "event: Meeting @14:00", "event: Arzt @15:00"),
    ("Meeting 14 Uhr, 15 Uhr, Arzt", "event: Meeting @14:00", "event: Arzt @15:00"),
    ("- 14 Uhr, Meeting\n- Milch", "event: Meeting @14:00", "task: Milch"),
    ("Brot; 14 Uhr, Meeting", "task: Brot", "event: Meeting @14:00"),
    ("workshop from 9am to noon", "event: workshop @09:00-12:00"),
    ("from 9 to noon workshop", "event: workshop @09:00-12:00"),
    ("9am-noon sync", "event: sync @09:00-12:00"),
    ("Workshop von 9 bis Mittag", "event: Workshop @09:00-12:00"),
    ("Workshop 9:30 bis zum Mittag", "event: Workshop @09:30-12:00"),
    ("Termin 9 Uhr 15 bis Mittag", "event: Termin @09:15-12:00"),
    ("party 8pm until midnight", "event: party @20:00-00:00"),
    ("20 Uhr bis Mitternacht Party", "event: Party @20:00-00:00"),
    ("abends 8 Uhr bis Mitternacht Kino", "event: abends Kino @20:00-00:00"),
)
"""What a time that opens the note leads to, and ranges to a word."""

NOT_LED: Final[tuple[Row, ...]] = (
    ("Meeting, 14 Uhr, Arzt", "event: Meeting @14:00", "event: Arzt"),
    ("14 Uhr, Idee: Podcast", "event: 14 Uhr @14:00", "idea: Podcast"),
    ("14 Uhr\nMilch kaufen", "event: 14 Uhr @14:00", "task: Milch kaufen"),
    ("bis 14 Uhr, Steuer", "task: bis 14 Uhr", "task: Steuer"),
    ("Bericht bis Mittag", "task: Bericht bis Mittag"),
    ("workshop from 8 until midnight", "event: workshop from 8 until midnight"),
    ("14 Uhr, Meeting 15 Uhr", "event: 14 Uhr @14:00", "event: Meeting @15:00"),
)
"""To whom the time belongs, or which half of the day, is unknown."""

EVERY: Final = (
    *(*SEED, *LISTS, *TIMES, *RANGES, *DEADLINES, *DURATIONS),
    *(*URGENCY, *IDEAS, *NUMBERS, *WORDS, *LETTERS, *NOTHING, *LED_BY_TIMES, *NOT_LED),
)
