#!/bin/bash
# Writes the metrics of all pools on this node into the folder of node_exporter's textfile
# collector, one file for each user who has a daemon. Root starts it (forebay-metrics.timer). A
# daemon answers nobody but its own user, so that each user's metrics are asked for as that user;
# only root writes into the folder. Who has no daemon any more has no file any more.
#
#   FOREBAY            the command (forebay)
#   FOREBAY_TEXTFILES  the folder (/var/lib/prometheus/node-exporter, as Debian has it)
set -euo pipefail
forebay=${FOREBAY:-forebay}
folder=${FOREBAY_TEXTFILES:-/var/lib/prometheus/node-exporter}
bytes_max=1048576
seconds_max=60

declare -A asked
new=$(mktemp "$folder/.forebay.XXXXXXXX")
trap 'rm -f "$new"' EXIT
while read -r user; do
    file=$folder/forebay-$user.prom
    asked[$file]=1
    # The answer comes from a process of the user: one that has no end is not taken.
    if timeout "$seconds_max" runuser -u "$user" -- env -C / "$forebay" pool status \
        --format prometheus < /dev/null | head -c "$bytes_max" > "$new"; then
        chmod 0644 "$new"
        mv -f "$new" "$file"
        new=$(mktemp "$folder/.forebay.XXXXXXXX")
    fi
done < <(ps -C forebayd -o user:64= | sort -u)

for file in "$folder"/forebay-*.prom; do
    if [[ -e $file && -z ${asked[$file]:-} ]]; then rm -f "$file"; fi
done
