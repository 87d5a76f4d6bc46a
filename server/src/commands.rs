//! The commands of the Redis protocol that the service answers.

/// One row of the table of commands.
#[derive(Debug)]
pub(crate) struct CommandRow {
    command: Command,
    pub(crate) name: &'static str,
    /// The fewest and the most arguments, without the name.
    pub(crate) least: usize,
    pub(crate) most: usize,
    /// Its arguments, as documentation writes them.
    pub(crate) usage: &'static str,
    pub(crate) group: CommandGroup,
    pub(crate) summary: &'static str,
}

/// What a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandGroup {
    /// It gives ids or numbers. The first argument of those with arguments is a tag, a series or a
    /// pool.
    Gives,
    /// It looks for tags.
    Looks,
    /// It is about the connection.
    Connection,
    /// It is about the service.
    Server,
    /// Redis has it, and the service refuses it.
    Transactions,
}

macro_rules! table {
    ($($command:ident $name:literal $least:literal $most:literal $usage:literal $group:ident
        $summary:literal;)*) => {
        /// The known commands.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Command {
            $($command),*
        }

        impl Command {
            pub(crate) const ALL: [Command; TABLE.len()] = [$(Command::$command),*];
        }

        const TABLE: &[CommandRow] = &[$(CommandRow {
            command: Command::$command,
            name: $name,
            least: $least,
            most: $most,
            usage: $usage,
            group: CommandGroup::$group,
            summary: $summary,
        }),*];
    };
}

// Those that nearly all requests are for come first.
table! {
    UidNext "UID.NEXT" 0 1 "[count]" Gives
        "Takes time-ordered ids";
    TagNext "TAG.NEXT" 1 2 "tag [count]" Gives
        "Takes dense numbers of a tag, as texts";
    Incr "INCR" 1 1 "tag" Gives
        "Takes a dense number of a tag, as an integer";
    IncrBy "INCRBY" 2 2 "tag increment" Gives
        "The same as INCR: the increment is 1";
    SeriesNext "SERIES.NEXT" 1 4 "series [scope] [date] [count]" Gives
        "Takes numbers of a series";
    WorkerLend "WORKER.LEND" 1 13
        "pool [BITS bits] [LEASE seconds] [REST seconds] [CLOCK ms] [HOST host] [KEY key]" Gives
        "Lends a worker id of a pool";
    WorkerRenew "WORKER.RENEW" 3 4 "pool id secret [clock]" Gives
        "Renews the loan of a worker id";
    WorkerReturn "WORKER.RETURN" 3 4 "pool id secret [clock]" Gives
        "Returns a worker id";
    Ping "PING" 0 1 "[message]" Connection
        "Answers PONG, or the message";
    Echo "ECHO" 1 1 "message" Connection
        "Answers the message";
    Auth "AUTH" 1 2 "[username] token" Connection
        "Shows the token of the client";
    Hello "HELLO" 0 63 "[protover [AUTH username token] [SETNAME clientname]]" Connection
        "Chooses the version of the protocol, and tells of the service";
    Client "CLIENT" 1 63 "subcommand [argument [argument ...]]" Connection
        "Names the connection, and tells its id";
    Select "SELECT" 1 1 "index" Connection
        "Chooses database 0, which is the only one";
    Reset "RESET" 0 0 "" Connection
        "Makes the connection as it was at its beginning";
    Quit "QUIT" 0 0 "" Connection
        "Closes the connection";
    ReadOnly "READONLY" 0 0 "" Connection
        "Does nothing; clients of clusters send it";
    ReadWrite "READWRITE" 0 0 "" Connection
        "Does nothing; clients of clusters send it";
    Exists "EXISTS" 1 63 "key [key ...]" Looks
        "Tells how many of these tags there are";
    Type "TYPE" 1 1 "key" Looks
        "Tells whether there is this tag";
    DbSize "DBSIZE" 0 0 "" Looks
        "Tells how many tags this service has used";
    Scan "SCAN" 1 7 "cursor [MATCH pattern] [COUNT count] [TYPE type]" Looks
        "Lists the tags that this service has used";
    Describe "COMMAND" 0 63 "[subcommand [name [name ...]]]" Server
        "Tells of the commands";
    Info "INFO" 0 63 "[section [section ...]]" Server
        "Tells of the service";
    Config "CONFIG" 1 63 "GET name [name ...]" Server
        "Tells the settings that clients look at";
    Cluster "CLUSTER" 0 63 "" Server
        "Is refused: each service stands alone";
    Module "MODULE" 1 63 "LIST" Server
        "Lists no modules";
    Role "ROLE" 0 0 "" Server
        "Tells that the service has no replicas";
    Time "TIME" 0 0 "" Server
        "Tells the time of the service's clock";
    Multi "MULTI" 0 63 "" Transactions
        "Is refused: each command stands alone";
    Exec "EXEC" 0 63 "" Transactions
        "Is refused: each command stands alone";
    Discard "DISCARD" 0 63 "" Transactions
        "Is refused: each command stands alone";
    Watch "WATCH" 0 63 "key [key ...]" Transactions
        "Is refused: each command stands alone";
    Unwatch "UNWATCH" 0 63 "" Transactions
        "Is refused: each command stands alone";
}

impl Command {
    /// The command of this name, in capital letters or not.
    pub(crate) fn find(name: &[u8]) -> Option<Command> {
        let found = TABLE.iter().find(|row| row.name.as_bytes().eq_ignore_ascii_case(name))?;
        Some(found.command)
    }

    pub(crate) const fn row(self) -> &'static CommandRow {
        &TABLE[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_found_by_its_name() {
        for command in Command::ALL {
            let CommandRow { name, least, most, .. } = command.row();
            assert_eq!(Command::find(name.as_bytes()), Some(command));
            assert_eq!(Command::find(name.to_lowercase().as_bytes()), Some(command));
            assert!(least <= most, "{name}");
        }
        for name in ["", "UID", "UID.NEXT ", "UID_NEXT", "GET", "DECR"] {
            assert_eq!(Command::find(name.as_bytes()), None, "{name}");
        }
    }
}
