//! The table `tiny_id_token` of tinyid: which of its clients may take numbers of which tags.

use super::sql_segments::SqlSegments;
use super::table::{Fault, Tables};
use super::tinyid::TinyId;
use crate::backend::sql::{
    Access, Call, Error, ErrorPhrases, OnMissing, Schema, Transaction, Value,
};
use crate::segment::SegmentError;
use crate::segment::source::admin::TinyIdToken;

/// The table of tokens. It is tinyid's to make, too.
const SCHEMA: Schema = Schema {
    sql: "",
    version: 0,
    // No number comes from this table, so the server may forget its rows.
    tables: &[],
    witness: "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'tiny_id_token'",
};

const PHRASES: ErrorPhrases = ErrorPhrases {
    subject: "the tags in",
    missing_tables: "its table tiny_id_token is not there; name the database that tinyid uses",
    incompatible_tables: "its table tiny_id_token does not have the columns of tinyid's, with \
        these types",
    not_a_database: "give the path of the one with the table tiny_id_token",
    unrelated_tables: "",
    permissions: "give this user the right to select in its table tiny_id_token",
};

impl<D: Tables> SqlSegments<D, TinyId> {
    /// The tokens of tinyid's clients, from the table `tiny_id_token` of the same database. For a
    /// server that stands in for tinyid's; [`load`](crate::segment::SegmentSource::load) asks for
    /// none.
    ///
    /// ```no_run
    /// # #[cfg(feature = "mysql")] {
    /// use uidring::segment::MySqlSegments;
    ///
    /// let source = MySqlSegments::open("mysql://tinyid@db.example.com/tinyid")?.tinyid();
    /// for token in source.tokens()? {
    ///     println!("there is a token for {}", token.tag);
    /// }
    /// # }
    /// # Ok::<(), uidring::segment::SegmentError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SegmentError::Storage`] when the table is not there or is another, else as
    /// [`load`](crate::segment::SegmentSource::load).
    pub fn tokens(&self) -> Result<Vec<TinyIdToken>, SegmentError> {
        let doing = "read the tokens in";
        let call = Call { schema: &SCHEMA, phrases: &PHRASES, doing, access: Access::Read };
        let read = |transaction: &mut Transaction<'_>| {
            let sql = "SELECT token, biz_type FROM tiny_id_token";
            let rows = transaction.rows(sql, &[])?;
            let tokens: Result<_, Error> = rows.into_iter().map(token).collect();
            tokens.map_err(Fault::from)
        };
        self.client.transact(&call, &OnMissing::Fail, None, read)
    }
}

fn token(row: Vec<Value>) -> Result<TinyIdToken, Error> {
    let columns: Result<[Value; 2], _> = row.try_into();
    match columns {
        Ok([Value::Text(token), Value::Text(tag)]) => Ok(TinyIdToken { token, tag }),
        // Not the value, which may be a secret.
        _ => Err(Error::IncompatibleTables(Some("a token is not a text".into()))),
    }
}
