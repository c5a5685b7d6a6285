#!/bin/bash
# Tests layouts and collective calls on a real CephFS of three OSDs, which is brought up for it.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/ci/packages.sh cephfs
folder=$(mktemp -d)/cephfs
trap 'tests/cephfs.sh down "$folder"; rmdir "$(dirname "$folder")"' EXIT
FOREBAY_CEPHFS=$(tests/cephfs.sh up "$folder")
export FOREBAY_CEPHFS
tools/ci/pytest.sh tests/suite -m cephfs
