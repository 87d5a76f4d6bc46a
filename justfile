# All commands of this project that people type, for `just` (cargo install just). Each only calls
# what is there: a machine without `just` runs the lines themselves.

# Lists these commands.
default:
    @just --list --unsorted

# What a change has to pass first: the tests that need no server.
test *args:
    cargo test {{args}}

# All tests with all features; those of servers need the addresses that CONTRIBUTING names.
test-all *args:
    tests/all-features {{args}}

# What to run after a change of: ring, engine, series, bytes, stores, disk, threads, memory.
check what:
    @just _check-{{what}}

_check-ring:
    cargo test --lib
    loom-tests/run ring
    verify/miri/run ring

_check-engine:
    cargo test --lib
    loom-tests/run
    verify/shuttle/run

_check-series:
    cargo test -F series --test series --test series_numbers

_check-bytes:
    verify/fuzz/run

_check-stores:
    .ci/run protocols "tests, all features"

_check-disk:
    cargo test -p uidring-power-cut

_check-threads:
    verify/tsan/run

_check-memory:
    verify/miri/run

# The models of the ring on loom.
models *args:
    loom-tests/run {{args}}

# Breaks the library on purpose, one place at a time: the models must notice.
mutations *args:
    loom-tests/mutations {{args}}

# The benchmarks: take, segments, series, masked, stores, latency, shapes.
bench name="take":
    cargo bench -p uidring-benches --bench {{name}}

# A take's instructions, held against what they were.
instructions:
    benches/instructions/check

# The commands that the pages for users show.
docs *args:
    docs/run {{args}}

# A server for tests, as `just stores mysql install`.
stores name *args:
    verify/stores/{{name}} {{args}}

# What must pass before a change is good; with names, those steps alone.
ci *steps:
    .ci/run {{steps}}
