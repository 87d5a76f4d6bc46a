//! The table of paths. The router, the OpenAPI description, the metrics, the cross-site check and
//! the fast path all use it, and each request's path is looked up in it once.

/// The option that enables a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// No option: the path is always enabled.
    Always,
    Uids,
    LeafSegment,
    LeafSnowflake,
    /// Enabled with either mode of Leaf.
    Leaf,
    TinyId,
}

impl Group {
    /// The option that enables the paths.
    const fn option(self) -> Option<&'static str> {
        match self {
            Group::Always => None,
            Group::Uids => Some("--uids=true"),
            Group::LeafSegment => Some("--leaf-segment=true"),
            Group::LeafSnowflake => Some("--leaf-snowflake=true"),
            Group::Leaf => Some("--leaf-segment=true or --leaf-snowflake=true"),
            Group::TinyId => Some("--tinyid=true"),
        }
    }

    /// Whether a slash at the end of the path is ignored, as Spring ignores it for Leaf and tinyid.
    const fn ignores_slash(self) -> bool {
        match self {
            Group::Always | Group::Uids => false,
            Group::LeafSegment | Group::LeafSnowflake | Group::Leaf | Group::TinyId => true,
        }
    }
}

/// What a path is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Gives ids or changes something.
    Gives,
    /// Only shows something, with any method. So pages of other sites may link to it.
    Shows,
    /// Only shows something, and is meant for operators and their programs, not for clients.
    Operates,
}

/// A row of the table. At most one piece of the path is variable. It has one part or several, with
/// slashes between them.
struct PathRow {
    route: Route,
    text: &'static str,
    before: &'static str,
    /// The name of the variable piece, in braces. Empty if the path is fixed.
    name: &'static str,
    after: &'static str,
    group: Group,
    purpose: Purpose,
}

impl PathRow {
    const fn new(route: Route, text: &'static str, group: Group, purpose: Purpose) -> PathRow {
        let bytes = text.as_bytes();
        let mut open = 0;
        while open < bytes.len() && bytes[open] != b'{' {
            open += 1;
        }
        let mut close = if open < bytes.len() { bytes.len() } else { open };
        while close > open && bytes[close - 1] != b'}' {
            close -= 1;
        }
        let (before, rest) = text.split_at(open);
        let (name, after) = rest.split_at(close - open);
        PathRow { route, text, before, name, after, group, purpose }
    }

    /// The variable piece of `path`, if `path` matches this row.
    fn part_of<'a>(&self, path: &'a str) -> Option<&'a str> {
        if self.name.is_empty() {
            return (path == self.before).then_some("");
        }
        let part = path.strip_prefix(self.before)?.strip_suffix(self.after)?;
        let is_of_row = part.split('/').count() == self.name.split('/').count();
        (is_of_row && part.split('/').all(|one| !one.is_empty())).then_some(part)
    }
}

macro_rules! table {
    ($($route:ident $text:literal $group:ident $purpose:ident;)*) => {
        /// The known paths.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Route {
            $($route),*
        }

        impl Route {
            pub(crate) const ALL: [Route; TABLE.len()] = [$(Route::$route),*];
        }

        const TABLE: &[PathRow] =
            &[$(PathRow::new(Route::$route, $text, Group::$group, Purpose::$purpose)),*];
    };
}

// Paths of single ids come first, because nearly all requests are for them.
table! {
    Uids "/v1/uids" Uids Gives;
    TagIds "/v1/tags/{tag}/ids" Always Gives;
    LeafSegment "/api/segment/get/{key}" LeafSegment Gives;
    NextIdSimple "/tinyid/id/nextIdSimple" TinyId Gives;
    NextId "/tinyid/id/nextId" TinyId Gives;
    LeafSnowflake "/api/snowflake/get/{key}" LeafSnowflake Gives;
    TagSegments "/v1/tags/{tag}/segments" Always Gives;
    NextSegmentIdSimple "/tinyid/id/nextSegmentIdSimple" TinyId Gives;
    NextSegmentId "/tinyid/id/nextSegmentId" TinyId Gives;
    Uid "/v1/uids/{uid}" Uids Shows;
    Tags "/v1/tags" Always Shows;
    Tag "/v1/tags/{tag}" Always Gives;
    SeriesNumbers "/v1/series/{name}/numbers" Always Gives;
    SeriesWidening "/v1/series/{name}/widen" Always Gives;
    AllSeries "/v1/series" Always Shows;
    OneSeries "/v1/series/{name}" Always Gives;
    Pools "/v1/workers" Always Gives;
    Pool "/v1/workers/{pool}" Always Shows;
    Loan "/v1/workers/{pool}/{id}" Always Gives;
    Status "/v1/status" Always Operates;
    Live "/livez" Always Operates;
    Ready "/readyz" Always Operates;
    Metrics "/metrics" Always Operates;
    OpenApi "/openapi.json" Always Operates;
    Page "/" Always Operates;
    LeafDecode "/decodeSnowflakeId" Leaf Shows;
    LeafCache "/cache" LeafSegment Operates;
    LeafDb "/db" LeafSegment Operates;
    PageFile "/page/{file}" Always Operates;
}

impl Route {
    /// Finds the route of a request's path, and the variable piece of the path.
    pub(crate) fn find(path: &str) -> Option<(Route, &str)> {
        for row in TABLE {
            if let Some(part) = row.part_of(path) {
                return Some((row.route, part));
            }
        }
        let path = path.strip_suffix('/')?;
        let mut rows = TABLE.iter().filter(|row| row.group.ignores_slash());
        rows.find_map(|row| Some((row.route, row.part_of(path)?)))
    }

    const fn row(self) -> &'static PathRow {
        &TABLE[self as usize]
    }

    /// The path with the names of its variable parts in braces.
    pub(crate) const fn text(self) -> &'static str {
        self.row().text
    }

    pub(crate) const fn group(self) -> Group {
        self.row().group
    }

    /// The option that enables the path. `None` if none is needed.
    pub(crate) const fn option(self) -> Option<&'static str> {
        self.group().option()
    }

    pub(crate) const fn ignores_slash(self) -> bool {
        self.group().ignores_slash()
    }

    /// Whether the path is for operators and their programs, not for clients.
    pub(crate) const fn is_for_operators(self) -> bool {
        matches!(self.row().purpose, Purpose::Operates)
    }

    /// Whether a request neither changes anything nor gives ids.
    pub(crate) const fn only_shows(self) -> bool {
        !matches!(self.row().purpose, Purpose::Gives)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_with_its_part() {
        for (path, expected, part) in [
            ("/", "/", ""),
            ("/v1/uids", "/v1/uids", ""),
            ("/v1/uids/", "other", ""),
            ("/v1/uids/7", "/v1/uids/{uid}", "7"),
            ("/v1/tags/a", "/v1/tags/{tag}", "a"),
            ("/v1/tags/a/ids", "/v1/tags/{tag}/ids", "a"),
            ("/v1/tags/a/ids/", "other", ""),
            ("/v1/tags/a/b/ids", "other", ""),
            ("/v1/tags//ids", "other", ""),
            ("/v1/tags/ids", "/v1/tags/{tag}", "ids"),
            ("/v1/tags/a/segments", "/v1/tags/{tag}/segments", "a"),
            ("/v1/series/a", "/v1/series/{name}", "a"),
            ("/v1/series/a/numbers", "/v1/series/{name}/numbers", "a"),
            ("/v1/series/a/widen", "/v1/series/{name}/widen", "a"),
            ("/v1/series/a/b/numbers", "other", ""),
            ("/v1/workers", "/v1/workers", ""),
            ("/v1/workers/a", "/v1/workers/{pool}", "a"),
            ("/v1/workers/a/7", "/v1/workers/{pool}/{id}", "a/7"),
            ("/v1/workers//7", "other", ""),
            ("/v1/workers/a/", "other", ""),
            ("/v1/workers/a/7/", "other", ""),
            ("/api/segment/get/k", "/api/segment/get/{key}", "k"),
            ("/api/segment/get/k/", "/api/segment/get/{key}", "k"),
            ("/api/segment/get//", "other", ""),
            ("/tinyid/id/nextId", "/tinyid/id/nextId", ""),
            ("/tinyid/id/nextId/", "/tinyid/id/nextId", ""),
            ("/tinyid/id/nextId//", "other", ""),
            ("/db/", "/db", ""),
            ("//", "other", ""),
            ("/../etc/passwd", "other", ""),
            ("", "other", ""),
        ] {
            let found = Route::find(path);
            let shown = found.map_or(("other", ""), |(route, part)| (route.text(), part));
            assert_eq!(shown, (expected, part), "{path}");
        }
        for route in Route::ALL {
            assert_eq!(Route::find(route.text()).map(|(found, _)| found), Some(route));
        }
    }
}
