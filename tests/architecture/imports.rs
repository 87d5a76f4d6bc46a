//! The files of a crate and what each imports: an arrow goes from the file that names something to
//! the file that defines it.
//!
//! Names are followed to where they are defined: `crate::segment::Tag` is an arrow to the file with
//! `Tag`, not to `segment/mod.rs`, which re-exports it. A file that only declares modules and
//! re-exports names, a *facade*, therefore has no arrows of its own. Tests at the end of a file do
//! not count.
//!
//! A `mod.rs` with code defines what the files of its folder extend, as `impl Engine` does in
//! `engine/take.rs`. So the arrows from it into its own folder do not count either: its files may
//! import from it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of a folder, in order: each imports only from those before it. There are no
/// exceptions.
pub struct ModuleOrder {
    /// The folder with the root of the crate, or that file, if it is neither a `lib.rs` nor a
    /// `main.rs`.
    pub root: &'static str,
    /// The folder below it; empty for the root's own.
    pub folder: &'static str,
    pub modules: &'static [&'static str],
}

/// A path of modules or names, without `crate`.
type Names = Vec<String>;

/// The files of a crate, by the paths of their modules. That of the root is empty.
pub struct Imports {
    files: BTreeMap<Names, File>,
}

#[derive(Default)]
struct File {
    path: String,
    is_facade: bool,
    /// Each name that a `use` brings in, and what it stands for.
    uses: Vec<(String, Names)>,
    /// Each path that the file names.
    paths: BTreeSet<Names>,
}

impl Imports {
    /// Reads the crate whose root is the file `root`, or the `lib.rs` or `main.rs` in that folder.
    /// Folders below with a crate of their own are not part of it.
    pub fn read(root: &Path) -> Imports {
        let root = if root.is_file() { root.to_owned() } else { root_file(root).unwrap() };
        let folder = root.parent().unwrap();
        let is_own = |path: &&PathBuf| {
            let folders = path.ancestors().skip(1).take_while(|above| *above != folder);
            folders.into_iter().all(|above| !is_crate(above))
        };
        let name = |path: &Path| path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
        let files = rust_files(folder);
        let files = files.iter().filter(is_own);
        let files = files.map(|path| (name(path), fs::read_to_string(path).unwrap()));
        Imports::new(&name(&root), files)
    }

    /// The files of a crate, by their paths. That of its root is `root`.
    pub fn new(root: &str, texts: impl IntoIterator<Item = (String, String)>) -> Imports {
        let texts: BTreeMap<Names, (String, Vec<String>)> = texts
            .into_iter()
            .map(|(path, text)| (module_of(root, &path), (path, tokens(before_tests(&text)))))
            .collect();
        let modules: BTreeSet<Names> = texts.keys().cloned().collect();
        let files = texts.into_iter().map(|(module, (path, tokens))| {
            let file = Parser { tokens: &tokens, at: 0, module: module.clone(), modules: &modules };
            (module, file.parse(path))
        });
        Imports { files: files.collect() }
    }

    /// Each arrow between two files, by their paths.
    pub fn arrows(&self) -> BTreeSet<(&str, &str)> {
        let mut arrows = BTreeSet::new();
        for file in self.files.values().filter(|file| !file.is_facade) {
            for path in &file.paths {
                let there = &self.files[&self.home(path, 0)];
                if there.path != file.path && !is_part(&file.path, &there.path) {
                    arrows.insert((file.path.as_str(), there.path.as_str()));
                }
            }
        }
        arrows
    }

    /// The module of the file that defines what `path` names.
    fn home(&self, path: &[String], depth: usize) -> Names {
        let is_module = |length: &usize| self.files.contains_key(&path[..*length]);
        let length = (0..=path.len()).rev().find(is_module).unwrap();
        let (module, rest) = path.split_at(length);
        let Some((name, rest)) = rest.split_first() else { return module.to_vec() };
        for (known, meaning) in &self.files[module].uses {
            let is_other = meaning[..] != path[..];
            if known == name && is_other && depth < 20 {
                return self.home(&[&meaning[..], rest].concat(), depth + 1);
            }
        }
        module.to_vec()
    }

    /// The groups of files that import one another, directly or through others.
    pub fn circles(&self) -> Vec<BTreeSet<&str>> {
        let mut reached: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (from, to) in self.arrows() {
            reached.entry(from).or_default().insert(to);
        }
        // What a file's imports reach, the file reaches, too.
        loop {
            let before: usize = reached.values().map(BTreeSet::len).sum();
            let known = reached.clone();
            for targets in reached.values_mut() {
                let next = targets.iter().filter_map(|to| known.get(to)).flatten().copied();
                let next: Vec<&str> = next.collect();
                targets.extend(next);
            }
            if before == reached.values().map(BTreeSet::len).sum::<usize>() {
                break;
            }
        }
        let is_both_ways = |a: &str, b: &str| reached[a].contains(b) && reached[b].contains(a);
        let circles: BTreeSet<BTreeSet<&str>> = reached
            .keys()
            .filter(|file| reached[*file].contains(*file))
            .map(|file| {
                let other = |there: &&str| reached.contains_key(there) && is_both_ways(file, there);
                reached[file].iter().copied().filter(other).collect()
            })
            .collect();
        circles.into_iter().collect()
    }

    /// Each arrow to a module of `folder` that does not come before the one it starts in. The
    /// modules are the files and folders there, but for a facade. One may be a part of another, as
    /// `store/sql` of `store`.
    pub fn arrows_up<'a>(&'a self, folder: &str, modules: &[&str]) -> Vec<(&'a str, &'a str)> {
        let module = |file: &'a str| module_in(folder, modules, file);
        let facades =
            self.files.values().filter(|file| file.is_facade).map(|file| file.path.as_str());
        let facades: BTreeSet<&str> =
            facades.filter(|facade| module(facade).is_some_and(|module| module == "mod")).collect();
        let files = self.files.values().map(|file| file.path.as_str());
        let found: BTreeSet<&str> =
            files.filter(|file| !facades.contains(file)).filter_map(module).collect();
        let listed: BTreeSet<&str> = modules.iter().copied().collect();
        assert_eq!(
            found, listed,
            "the modules of `{folder}`, and those of which the order is told"
        );
        let place = |file: &'a str| {
            let module = module(file).filter(|_| !facades.contains(file))?;
            Some(modules.iter().position(|&known| known == module).unwrap())
        };
        let is_up = |&(from, to): &(&'a str, &'a str)| {
            place(from).zip(place(to)).is_some_and(|(from, to)| from < to)
        };
        self.arrows().into_iter().filter(is_up).collect()
    }
}

/// The module of `folder` that a file is in: the first name below it, or that of a part.
fn module_in<'a>(folder: &str, modules: &[&str], file: &'a str) -> Option<&'a str> {
    let below =
        if folder.is_empty() { file } else { file.strip_prefix(folder)?.strip_prefix('/')? };
    let below = below.trim_end_matches(".rs");
    let is_end = |rest: &str| rest.is_empty() || rest.starts_with('/');
    let is_part = |part: &&str| below.strip_prefix(*part).is_some_and(is_end);
    let part = modules.iter().filter(|module| module.contains('/')).find(|part| is_part(part));
    Some(part.map_or_else(|| below.split('/').next().unwrap(), |part| &below[..part.len()]))
}

/// Whether the file is the one of a folder that declares the others.
fn is_folders_own(file: &str) -> bool {
    ["mod.rs", "lib.rs", "main.rs"].contains(&file.rsplit('/').next().unwrap())
}

/// Whether `part` lies in the folder, or deeper, of which `whole` is the `mod.rs`.
fn is_part(whole: &str, part: &str) -> bool {
    whole.strip_suffix("mod.rs").is_some_and(|folder| part.starts_with(folder))
}

/// All files of Rust in `folder` and below it, but for what cargo builds and what is hidden.
pub fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name == "target" || name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// The file in `folder` with the root of a crate. Beside a `lib.rs`, a `main.rs` is the root of a
/// program that is in that file alone.
fn root_file(folder: &Path) -> Option<PathBuf> {
    ["lib.rs", "main.rs"].map(|name| folder.join(name)).into_iter().find(|file| file.is_file())
}

/// Whether `folder` has a crate of its own.
pub fn is_crate(folder: &Path) -> bool {
    root_file(folder).is_some() || folder.join("Cargo.toml").is_file()
}

/// The path of the module that is in the file at `path`.
fn module_of(root: &str, path: &str) -> Names {
    let mut names: Names = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if path == root || names.last().unwrap() == "mod" {
        names.pop();
    }
    names
}

/// A file without the tests at its end.
pub fn before_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests").next().unwrap()
}

/// The names and signs of a source text, without comments, strings and characters.
fn tokens(text: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            2 + comment.find("*/").unwrap() + 2
        } else if let Some(string) = rest.strip_prefix("r#\"") {
            3 + string.find("\"#").unwrap() + 2
        } else if c == '"' {
            let mut escaped = false;
            let is_end = |c: char| {
                let is_end = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                is_end
            };
            1 + rest[1..].find(is_end).unwrap() + 1
        } else if c == '\'' {
            // A character, or the name of a lifetime.
            let second = rest[1..].chars().next().unwrap();
            let behind = 1 + second.len_utf8();
            if second == '\\' {
                3 + rest[3..].find('\'').unwrap() + 1
            } else if rest[behind..].starts_with('\'') {
                behind + 1
            } else {
                1
            }
        } else if is_word(c) {
            let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            found.push(rest[..length].to_owned());
            length
        } else if rest.starts_with("::") {
            found.push("::".to_owned());
            2
        } else {
            if !c.is_whitespace() {
                found.push(c.to_string());
            }
            c.len_utf8()
        };
        rest = &rest[length..];
    }
    found
}

/// Reads one file's imports.
struct Parser<'a> {
    tokens: &'a [String],
    at: usize,
    /// Where the tokens are: the file's module, and modules inside the file.
    module: Names,
    modules: &'a BTreeSet<Names>,
}

impl Parser<'_> {
    fn parse(mut self, path: String) -> File {
        const CODE: [&str; 9] =
            ["fn", "struct", "enum", "impl", "trait", "const", "static", "type", "macro_rules"];
        let is_code = |token: &String| CODE.contains(&token.as_str());
        let is_facade = is_folders_own(&path) && !self.tokens.iter().any(is_code);
        let mut file = File { path, is_facade, ..File::default() };
        // The depths of braces at which modules inside the file began.
        let (mut depth, mut inner) = (0, Vec::new());
        while let Some(token) = self.token(0) {
            match token {
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    if inner.last() == Some(&depth) {
                        inner.pop();
                        self.module.pop();
                    }
                }
                "mod" if self.token(2) == Some("{") => {
                    self.module.push(self.tokens[self.at + 1].clone());
                    inner.push(depth);
                    depth += 1;
                    self.at += 2;
                }
                "use" => {
                    self.at += 1;
                    let mut uses = Vec::new();
                    self.read_tree(&[], &mut uses);
                    let uses = uses
                        .into_iter()
                        .filter_map(|(name, path)| Some((name, self.absolute(&path)?)));
                    for (name, path) in uses.collect::<Vec<_>>() {
                        file.paths.insert(path.clone());
                        if inner.is_empty() && depth == 0 {
                            file.uses.push((name, path));
                        }
                    }
                }
                _ if is_name(token) => {
                    let path = self.read_path();
                    if path.len() > 1 {
                        file.paths.extend(self.absolute(&path));
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
        file
    }

    fn token(&self, ahead: usize) -> Option<&str> {
        self.tokens.get(self.at + ahead).map(String::as_str)
    }

    /// A path as `a::b::c`. Stops at its last token.
    fn read_path(&mut self) -> Names {
        let mut path = vec![self.tokens[self.at].clone()];
        while self.token(1) == Some("::") && self.token(2).is_some_and(is_name) {
            self.at += 2;
            path.push(self.tokens[self.at].clone());
        }
        path
    }

    /// What comes after `use` or in its braces. Stops before `;`, `,` or `}`.
    fn read_tree(&mut self, prefix: &[String], found: &mut Vec<(String, Names)>) {
        let mut path = prefix.to_vec();
        let mut is_named = false;
        while let Some(token) = self.token(0) {
            match token {
                ";" | "," | "}" => break,
                "{" => {
                    while self.token(0) != Some("}") {
                        self.at += 1;
                        self.read_tree(&path, found);
                    }
                    self.at += 1;
                    return;
                }
                "as" => {
                    found.push((self.tokens[self.at + 1].clone(), path));
                    self.at += 2;
                    return;
                }
                "::" => {}
                "self" if !path.is_empty() => is_named = true,
                name => {
                    is_named = true;
                    path.push(name.to_owned());
                }
            }
            self.at += 1;
        }
        // Nothing is named after the last comma of a list.
        if let Some(name) = path.last().filter(|_| is_named) {
            found.push((name.clone(), path));
        }
    }

    /// `path` from the root of the crate, if it begins in this crate.
    fn absolute(&self, path: &[String]) -> Option<Names> {
        let mut module = self.module.clone();
        let mut path = path;
        if path[0] == "crate" {
            return Some(path[1..].to_vec());
        }
        if path[0] == "self" || path[0] == "super" {
            while let Some((first, rest)) = path.split_first() {
                match first.as_str() {
                    "self" => {}
                    "super" => drop(module.pop()),
                    _ => break,
                }
                path = rest;
            }
            module.extend_from_slice(path);
            return Some(module);
        }
        module.push(path[0].clone());
        let is_child = self.modules.contains(&module);
        module.extend_from_slice(&path[1..]);
        is_child.then_some(module)
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}
