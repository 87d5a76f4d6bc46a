# The commands of this project, for `just` (`cargo install just`). Each line is a command that also
# works without it.

# Lists these commands.
default:
    @just --list --unsorted

# The tests that need no server.
test *args:
    cargo test {{args}}

# All tests with all features. tests/README.md names the servers.
test-all *args:
    tests/all-features {{args}}

# What to run after a change: ring, engine, series, bytes, stores, disk, threads or memory.
check what:
    @{{just_executable()}} _check-{{what}}

_check-ring:
    cargo test --lib
    loom-tests/run
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

# Compares the instructions of a take with those on record.
instructions:
    benches/instructions/check

# The commands that the pages for users show.
docs *args:
    docs/run {{args}}

# The book, in target/book.
book *args:
    docs/book/build {{args}}

# Servers to try uidring on, until they are interrupted: `just stores mysql-9`. Their names stand in
# `verify/stores/table`.
stores +names:
    verify/stores/install {{names}}
    verify/stores/with {{names}}

# What must pass before a change is good; with names, those steps alone.
ci *steps:
    .ci/run {{steps}}
