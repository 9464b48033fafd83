"""Replaces what looks like a secret before anything is recorded.

Two things betray a secret: its shape (a vendor's prefix, a private key, a password in a URL), and
its place ("the password is ..."), unless what stands there is what a specification says in such a
place: `required`, `bcrypt`, `min. 12 characters`, `${DB_PASSWORD}`. `classifier` draws that line;
a miss or a false alarm is mended there or in a table, and its text joins the corpus of the tests.

Pure, and linear in the length of the text: a rule that may fail reads a bounded stretch, a rule
without a bound consumes what it has read. Storage and the words for the person stay outside.
"""
