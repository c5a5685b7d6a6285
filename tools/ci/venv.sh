#!/bin/bash
# Makes .venv with the packages that the Python package needs, and for "test" those of its tests.
# Does nothing if the lists of packages have not changed since.
set -euo pipefail
cd "$(dirname "$0")/../.."
purpose=${1:-demo}

lists=()
for list in tools/ci/requirements.txt pyproject.toml; do
    if [[ -f $list ]]; then lists+=("$list"); fi
done
stamp=.venv/forebay-$purpose
want=$(cat "${lists[@]}" | sha256sum)
if [[ -x .venv/bin/python && -f $stamp && $(<"$stamp") == "$want" ]]; then
    exit 0
fi

if [[ ! -x .venv/bin/python ]]; then
    python3 -m venv .venv
fi
pip=(.venv/bin/python -m pip --disable-pip-version-check --quiet)
packages=$(.venv/bin/python tools/ci/requirements.py "$purpose")
# shellcheck disable=SC2086  # one word a package
"${pip[@]}" install $packages
# A path to the sources, so that .venv/bin/python imports the files that are being edited.
site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
echo "$PWD/python" > "$site/forebay-source.pth"
cat > .venv/bin/forebay <<LAUNCHER
#!/bin/sh
exec "$PWD/.venv/bin/python" -m forebay "\$@"
LAUNCHER
chmod +x .venv/bin/forebay
echo "$want" > "$stamp"
