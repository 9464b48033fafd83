"""A program with vcrpy: `python taped.py TAPE default|body record|replay python PROGRAM ...`."""

import runpy
import sys

import vcr

tape, matched, verb, _python, *sys.argv = sys.argv[1:]
more = {"match_on": (*vcr.VCR().match_on, "body")} if matched == "body" else {}
mode = "once" if verb == "record" else "none"
with vcr.use_cassette(tape, record_mode=mode, filter_headers=["authorization"], **more):
    runpy.run_path(sys.argv[0], run_name="__main__")
