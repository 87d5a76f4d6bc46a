//! The layouts that are known by a name.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use uidring::Layout;

use crate::format::{Below, Format};

/// A layout that is known by a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// [`Layout::DEFAULT`].
    Default,
    /// [`Layout::UID_GENERATOR`].
    UidGenerator,
    /// [`Layout::UID_GENERATOR_STARTER`].
    UidGeneratorStarter,
    /// [`Layout::TWITTER`], which Leaf and MyBatis-Plus have as well.
    Twitter,
    /// [`Layout::SHARDING_SPHERE`].
    ShardingSphere,
    /// [`Layout::SEATA`].
    Seata,
    /// [`Layout::JS_SAFE`].
    JsSafe,
    /// [`Layout::DISCORD`].
    Discord,
    /// [`Layout::INSTAGRAM`].
    Instagram,
    /// [`Layout::TSID`].
    Tsid,
    /// Sonyflake 1. Its ids can be read alone.
    Sonyflake,
    /// Sonyflake 2, with its own epoch. Its ids can be read alone.
    Sonyflake2,
    /// Mastodon. Its ids can be read alone, and have no worker.
    Mastodon,
}

impl Preset {
    /// All of them.
    pub const ALL: [Preset; 13] = [
        Preset::Default,
        Preset::UidGenerator,
        Preset::UidGeneratorStarter,
        Preset::Twitter,
        Preset::ShardingSphere,
        Preset::Seata,
        Preset::JsSafe,
        Preset::Discord,
        Preset::Instagram,
        Preset::Tsid,
        Preset::Sonyflake,
        Preset::Sonyflake2,
        Preset::Mastodon,
    ];

    /// As it is written on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.names()[0]
    }

    /// Its name, and others for the same layout.
    #[must_use]
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Preset::Default => &["default"],
            Preset::UidGenerator => &["uid-generator"],
            Preset::UidGeneratorStarter => &["uid-generator-starter"],
            Preset::Twitter => &["twitter", "leaf", "mybatis-plus"],
            Preset::ShardingSphere => &["sharding-sphere"],
            Preset::Seata => &["seata"],
            Preset::JsSafe => &["js-safe"],
            Preset::Discord => &["discord"],
            Preset::Instagram => &["instagram"],
            Preset::Tsid => &["tsid"],
            Preset::Sonyflake => &["sonyflake"],
            Preset::Sonyflake2 => &["sonyflake-2"],
            Preset::Mastodon => &["mastodon"],
        }
    }

    /// The preset of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Preset> {
        Preset::ALL.into_iter().find(|preset| preset.names().contains(&name))
    }

    /// The layout that a generator can have; `None` where ids can be read alone.
    #[must_use]
    pub fn layout(self) -> Option<Layout> {
        self.format().layout()
    }

    /// How its ids are read.
    #[must_use]
    pub fn format(self) -> Format {
        let layout = match self {
            Preset::Default => Layout::DEFAULT,
            Preset::UidGenerator => Layout::UID_GENERATOR,
            Preset::UidGeneratorStarter => Layout::UID_GENERATOR_STARTER,
            Preset::Twitter => Layout::TWITTER,
            Preset::ShardingSphere => Layout::SHARDING_SPHERE,
            Preset::Seata => Layout::SEATA,
            Preset::JsSafe => Layout::JS_SAFE,
            Preset::Discord => Layout::DISCORD,
            Preset::Instagram => Layout::INSTAGRAM,
            Preset::Tsid => Layout::TSID,
            Preset::Sonyflake => return Format::new(SONYFLAKE[0], Below::SequenceWorker),
            Preset::Sonyflake2 => return Format::new(SONYFLAKE[1], Below::SequenceWorker),
            Preset::Mastodon => return Format::new(*MASTODON, Below::SequenceAlone),
        };
        Format::from(layout)
    }
}

/// Ticks of 10 ms from 2014-09-01T00:00:00Z, and those of version 2 from 2025-01-01T00:00:00Z.
static SONYFLAKE: LazyLock<[Layout; 2]> = LazyLock::new(|| {
    [1_409_529_600, 1_735_689_600].map(|epoch| made(39, 16, 8, 10, Duration::from_secs(epoch)))
});

/// Milliseconds from 1970, and 16 bits that are partly chance. Its layout has a bit of them as its
/// worker, because a layout has one.
static MASTODON: LazyLock<Layout> = LazyLock::new(|| made(47, 1, 15, 1, Duration::ZERO));

/// A layout that can be: the tests make each of them.
fn made(time: u32, worker: u32, sequence: u32, tick_ms: u64, since_1970: Duration) -> Layout {
    Layout::new(time, worker, sequence)
        .and_then(|layout| layout.with_tick(Duration::from_millis(tick_ms)))
        .and_then(|layout| layout.with_epoch(SystemTime::UNIX_EPOCH + since_1970))
        .unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::Preset;

    #[test]
    fn each_has_names_of_its_own() {
        for preset in Preset::ALL {
            for name in preset.names() {
                assert_eq!(Preset::named(name), Some(preset));
            }
        }
        assert_eq!(Preset::named("leav"), None);
    }

    #[test]
    fn formats_say_what_they_are() {
        for (preset, text) in [
            (
                Preset::Sonyflake,
                "39 | 8 | 16 in ticks of 10 ms from 2014-09-01T00:00:00Z, sequence above worker",
            ),
            (
                Preset::Sonyflake2,
                "39 | 8 | 16 in ticks of 10 ms from 2025-01-01T00:00:00Z, sequence above worker",
            ),
            (Preset::Mastodon, "47 | 16 in milliseconds from 1970-01-01T00:00:00Z, no worker"),
            (Preset::Discord, "41 | 10 | 12 in milliseconds from 2015-01-01T00:00:00Z"),
        ] {
            assert_eq!(preset.format().to_string(), text);
        }
        let unmade: Vec<&str> = Preset::ALL
            .into_iter()
            .filter(|preset| preset.layout().is_none())
            .map(Preset::name)
            .collect();
        assert_eq!(unmade, ["sonyflake", "sonyflake-2", "mastodon"]);
    }
}
