//! What Windows tells of the place of a file.

use std::fs::{File, Metadata};
use std::path::{Component, Path, Prefix};

pub struct Place<'a> {
    path: &'a Path,
    is_there: bool,
}

impl<'a> Place<'a> {
    /// That of the file `path`, which was found to be so unless it is still to be made.
    pub fn of(path: &'a Path, found: Option<&'a Metadata>) -> Place<'a> {
        Place { path, is_there: found.is_some() }
    }

    /// Whether a hard link leads to the file, too. Nothing is known of a file that this user cannot
    /// open: SQLite will refuse it.
    pub fn has_second_name(&self) -> bool {
        let told = || winapi_util::file::information(File::open(self.path).ok()?).ok();
        self.is_there && told().is_some_and(|told| told.number_of_links() > 1)
    }

    /// Whether SQLite takes a symbolic link for the file. Here it does not follow it.
    pub fn is_link(&self) -> bool {
        self.path.is_symlink()
    }

    /// Whether the file is mounted without its folder. Here only folders are.
    #[allow(clippy::unused_self, reason = "as on Unix")]
    pub fn is_mounted_alone(&self) -> bool {
        false
    }

    /// The share that it is on, or will be on. A drive may lead to one.
    pub fn network(&self) -> Option<String> {
        let there = [Some(self.path), self.path.parent()];
        let whole = there.into_iter().flatten().find_map(|path| path.canonicalize().ok());
        share(whole.as_deref().unwrap_or(self.path))
    }
}

/// The share that a path begins with.
fn share(path: &Path) -> Option<String> {
    let Component::Prefix(prefix) = path.components().next()? else { return None };
    let (Prefix::UNC(server, share) | Prefix::VerbatimUNC(server, share)) = prefix.kind() else {
        return None;
    };
    Some(format!(r"\\{}\{}", server.display(), share.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_told_from_drives() {
        for (path, found) in [
            (r"\\server\share\ids.db", Some(r"\\server\share")),
            (r"\\?\UNC\server\share\a\ids.db", Some(r"\\server\share")),
            (r"\\wsl$\Debian\ids.db", Some(r"\\wsl$\Debian")),
            (r"C:\ids.db", None),
            (r"\\?\C:\ids.db", None),
            (r"\ids.db", None),
            ("ids.db", None),
        ] {
            assert_eq!(share(Path::new(path)).as_deref(), found, "{path}");
        }
    }
}
