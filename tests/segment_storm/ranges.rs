//! Sets of numbers, as ranges.

use std::ops::Range;

/// A set of numbers: ranges in order that do not touch.
#[derive(Clone, Debug, Default)]
pub struct Ranges(Vec<Range<u64>>);

impl Ranges {
    /// The numbers of all `ranges`, and the first two ranges that have one in common.
    pub fn new(ranges: impl IntoIterator<Item = Range<u64>>) -> (Ranges, Option<[Range<u64>; 2]>) {
        let mut ranges: Vec<_> = ranges.into_iter().filter(|range| !range.is_empty()).collect();
        ranges.sort_unstable_by_key(|range| (range.start, range.end));
        let mut set: Vec<Range<u64>> = Vec::new();
        let mut common = None;
        for range in ranges {
            match set.last_mut() {
                Some(last) if range.start <= last.end => {
                    if range.start < last.end {
                        common.get_or_insert([last.clone(), range.clone()]);
                    }
                    last.end = last.end.max(range.end);
                }
                _ => set.push(range),
            }
        }
        (Ranges(set), common)
    }

    pub fn of(ranges: impl IntoIterator<Item = Range<u64>>) -> Ranges {
        Ranges::new(ranges).0
    }

    /// The numbers that are not in `other`.
    pub fn without(&self, other: &Ranges) -> Ranges {
        let mut left = Vec::new();
        let mut others = other.0.iter().peekable();
        for range in &self.0 {
            let mut start = range.start;
            while let Some(other) = others.peek().filter(|other| other.start < range.end) {
                if other.start > start {
                    left.push(start..other.start);
                }
                start = start.max(other.end);
                if other.end >= range.end {
                    break;
                }
                others.next();
            }
            if start < range.end {
                left.push(start..range.end);
            }
        }
        Ranges(left)
    }

    pub fn and(&self, other: &Ranges) -> Ranges {
        Ranges::of(self.0.iter().chain(&other.0).cloned())
    }

    pub fn count(&self) -> u64 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    pub fn pieces(&self) -> &[Range<u64>] {
        &self.0
    }
}

#[test]
fn ranges_are_taken_from_ranges() {
    let set = |ranges: &[[u64; 2]]| Ranges::of(ranges.iter().map(|range| range[0]..range[1]));
    let all = set(&[[0, 10], [20, 30], [40, 50]]);
    for (other, left) in [
        (set(&[]), vec![0..10, 20..30, 40..50]),
        (set(&[[0, 50]]), vec![]),
        (set(&[[5, 25]]), vec![0..5, 25..30, 40..50]),
        (set(&[[1, 2], [3, 4], [9, 41], [49, 60]]), vec![0..1, 2..3, 4..9, 41..49]),
        (set(&[[10, 20], [30, 40]]), vec![0..10, 20..30, 40..50]),
    ] {
        assert_eq!(all.without(&other).pieces(), left);
    }
    let (both, common) = Ranges::new([5..9, 0..5, 8..12]);
    assert_eq!((both.pieces(), common), (set(&[[0, 12]]).pieces(), Some([0..9, 8..12])));
    assert_eq!(both.and(&set(&[[20, 21]])).count(), 13);
}
