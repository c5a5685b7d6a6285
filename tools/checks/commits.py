"""Commit messages: the subject is in the imperative, and the body begins with `Problem:`."""

import re
import subprocess
import sys
from collections.abc import Iterator

from checks.report import Finding, Outcome, Place, run

SINCE = "1707b5126d5537bbc16199ee4d51d358b18ee4c6"
"""The last commit that the rule does not apply to."""

SUBJECT_COLUMNS_MAX = 90
_NO_IMPERATIVE = re.compile(r"^(the|a|an|how|what|who|when|some|more)\b|^\w+(ed|ing)\b", re.I)
_EXCEPTIONS = re.compile(r"^(need|feed|speed|embed|bring|string)\b", re.I)


def findings_of(commit: str, subject: str, body: str) -> Iterator[Finding]:
    """The faults of one commit message."""
    where = f"commit {commit[:10]}"
    if _NO_IMPERATIVE.match(subject) and not _EXCEPTIONS.match(subject):
        yield Finding(
            where,
            f'"{subject}" is no imperative',
            "a subject says what the commit does, and for whom",
            "Begin with a verb: Let …, Give …, Mend ….",
        )
    if len(subject) > SUBJECT_COLUMNS_MAX:
        why = f"a subject has at most {SUBJECT_COLUMNS_MAX} columns"
        yield Finding(where, f"a subject of {len(subject)} columns", why, "Say the rest below.")
    if not body.lstrip().startswith("Problem:"):
        yield Finding(
            where,
            "the body does not begin with `Problem:`",
            "who reads it later has to know what was wrong",
            "Amend it: what was wrong, and what was done.",
        )


def check(place: Place) -> Outcome:
    """Commits since the rule: a subject in the imperative, a body that begins with `Problem:`."""
    command = ["git", "log", "--no-merges", "-z", "--format=%H%n%s%n%b", f"{SINCE}..HEAD"]
    done = subprocess.run(command, cwd=place.root, capture_output=True, text=True, check=False)
    if done.returncode != 0:  # not a repository, or a shallow clone without SINCE
        return Outcome("no commits: they are not all here", [])
    messages = [one.strip("\n").split("\n", 2) for one in done.stdout.split("\0") if one.strip()]
    findings = [
        finding
        for commit, subject, *body in messages
        for finding in findings_of(commit, subject, body[0] if body else "")
    ]
    return Outcome(f"{len(messages)} commits", findings)


if __name__ == "__main__":
    sys.exit(run(check))
