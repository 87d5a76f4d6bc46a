//! Whether a version can follow others.

use super::date::Date;
use super::definition::SeriesDefinition;
use super::series_error::SeriesError;
use super::store::SeriesRecord;

/// Fails if a number that `new` writes from the day `begins` on could have the text of one that an
/// older version of the series has written before.
pub(crate) fn check_change(
    record: &SeriesRecord,
    new: &SeriesDefinition,
    begins: Date,
) -> Result<(), SeriesError> {
    let refused =
        |problem: String| Err(SeriesError::BadChange { series: record.name.clone(), problem });
    let newest = record.newest();
    if begins <= newest.begins {
        return refused(format!(
            "version {} begins with {}; name a later day",
            newest.number, newest.begins
        ));
    }
    if newest.definition.pattern().has_scope() && !new.pattern().has_scope() {
        return refused(
            "scopes that the pattern no longer shows would have the same texts; keep {scope}"
                .to_owned(),
        );
    }
    for version in &record.versions {
        let pattern = version.definition.pattern();
        if pattern.may_meet(new.pattern(), begins) {
            return refused(format!(
                "{} could write the text of a number that version {}, {pattern}, has written \
                 before {begins}; give one of them another length or another sign at one place",
                new.pattern(),
                version.number
            ));
        }
    }
    Ok(())
}
