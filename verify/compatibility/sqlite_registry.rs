//! The library's own tests of the SQLite registry.

#[path = "../../tests/registries/contract.rs"]
mod contract;
#[path = "../../tests/common/copy_program.rs"]
mod copy_program;
#[path = "../../tests/common/folder.rs"]
mod folder;
#[path = "../../tests/registries/sqlite_registry.rs"]
mod sqlite_registry;
