#!/bin/bash
# Makes a site in build/docs/site of this checkout's Markdown files and of all commands' manual
# pages. A broken link, to a file or to a heading, is an error. The native programs' manual pages
# (forebay-ior …) are included if build/release exists.
set -euo pipefail
cd "$(dirname "$0")/../.."
made=build/docs
rm -rf "$made/man" "$made/documents" "$made/site" "$made/contents.yml"
mkdir -p "$made/man"
if ! command -v groff > /dev/null; then
    echo "cannot make the manual (no groff). Install the package groff-base." >&2
    exit 1
fi

venv=$made/venv
packages=$(sed -n 's/ *# docs$//p' tools/ci/requirements.txt)
if [[ ! -x $venv/bin/sphinx-build || $(cat "$venv/packages" 2> /dev/null) != "$packages" ]]; then
    python3 -m venv "$venv"
    # shellcheck disable=SC2086  # one word a package
    "$venv/bin/python" -m pip --disable-pip-version-check --quiet install $packages
    echo "$packages" > "$venv/packages"
fi

# The installed manual pages, as text.
site_packages=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
"$venv/bin/python" -B packaging/make_documents.py --source . --libraries build/release/lib \
    --packages "$site_packages" --into "$made/documents"
entries=()
{
    printf '# The manual\n\nOne page for each command, made from its help.\n\n'
    for page in "$made"/documents/man/man1/*.1; do
        name=$(basename "$page" .1)
        entries+=("$made/man/$name")
        echo "- [$name]($name.md)"
        {
            printf '# %s\n\n```text\n' "$name"
            groff -k -T utf8 -man -P -cbou -r LL=100n "$page"
            printf '```\n'
        } > "$made/man/$name.md"
    done
} > "$made/man/README.md"

# The table of contents. Every page has to be in it.
{
    cat packaging/site/contents.yml
    echo "  - caption: The manual"
    echo "    entries:"
    echo "    - file: $made/man/README"
    echo "      entries:"
    printf '      - file: %s\n' "${entries[@]}"
    echo "  - caption: Decisions"
    echo "    entries:"
    echo "    - file: docs/decisions/README"
    echo "      entries:"
    for page in docs/decisions/0*.md; do echo "      - file: ${page%.md}"; done
} > "$made/contents.yml"

sources='*.md,docs/**.md,schema/*.md,src/README.md,examples/**.md,'$made'/man/*.md'
"$venv/bin/sphinx-build" -b html -C --fail-on-warning --keep-going --quiet \
    -D project=Forebay -D html_theme=furo -D html_title=Forebay -D html_show_copyright=0 \
    -D html_copy_source=0 -D html_show_sphinx=0 -D pygments_style=default \
    -D extensions=myst_parser,sphinx_external_toc -D external_toc_path="$made/contents.yml" \
    -D include_patterns="$sources" -D exclude_patterns="$made/venv/**" \
    -D myst_heading_anchors=4 -d "$made/doctrees" . "$made/site"
cp "$made/site/README.html" "$made/site/index.html"
echo "The site is in $made/site: open $made/site/index.html"
