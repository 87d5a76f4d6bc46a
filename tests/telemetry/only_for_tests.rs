//! An address of a server that may forget is told as a warning: it may have left its tests.

use uidring::Store;

use crate::alone::alone;
use crate::observer::EVENTS;

#[test]
fn an_address_for_tests_is_told() {
    alone("only_for_tests::an_address_for_tests_is_told", || {
        crate::observer::observe();
        for scheme in ["postgres", "mysql", "redis"] {
            let address = format!("{scheme}://ids:secret@127.0.0.1:1/5");
            Store::open(&*address).unwrap();
            assert!(EVENTS.lock().unwrap().is_empty());
            Store::open(&*format!("{address}?only_for_tests=yes")).unwrap();
            let events: Vec<_> = EVENTS.lock().unwrap().drain(..).collect();
            let [event] = &events[..] else { panic!("{events:?}") };
            assert_eq!(event.name, "only_for_tests");
            assert!(event.text.starts_with("WARN this server may forget"), "{event:?}");
            assert!(event.fields.contains("127.0.0.1:1/5"), "{event:?}");
            assert!(!event.fields.contains("secret"), "{event:?}");
        }
    });
}
