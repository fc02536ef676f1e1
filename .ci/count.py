"""Adds up pytest's reports into one closing line."""

import sys
from xml.etree import ElementTree

total = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
for report in sys.argv[1:]:
    for suite in ElementTree.parse(report).getroot().iter("testsuite"):
        for what in total:
            total[what] += int(suite.get(what, 0))
failed = total["failures"] + total["errors"]
print(f"{total['tests'] - failed - total['skipped']} passed, {failed} failed, {total['skipped']} skipped")
