//! The service is stopped while clients send it orders: each order that it has answered is stored
//! once, and its worker id is free again.

#[path = "../../../tests/common/databases/mod.rs"]
mod databases;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use databases::Server;
use serde::Deserialize;
use uidring::registry::{PostgresRegistry, RegistryAdmin, SqliteRegistry};
use ureq::Agent;

const CLIENTS: usize = 8;
const ORDERS: usize = 4000;
/// So many are answered when the service is told to stop.
const STOP_AT: usize = ORDERS / 2;

#[derive(Debug, Deserialize, PartialEq)]
struct Order {
    id: String,
    number: String,
    item: String,
    invoice: Option<String>,
}

struct Service {
    process: Child,
    url: String,
}

impl Service {
    fn start(dir: &Path, database: Option<&str>) -> Service {
        let mut process = Command::new(env!("CARGO_BIN_EXE_shop"))
            .current_dir(dir)
            .env("LISTEN", "127.0.0.1:0")
            .env("SHOP_KEY", "7".repeat(64))
            .env_remove("DATABASE_URL")
            .envs(database.map(|url| ("DATABASE_URL", url)))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").expect("it listens").to_owned();
        Service { process, url }
    }

    /// Sends SIGTERM.
    fn stop(&self) {
        let process = self.process.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &process]).status().unwrap().success());
    }

    fn wait(mut self) -> ExitStatus {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status;
            }
            assert!(begin.elapsed() < Duration::from_secs(30), "the service does not end");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// The status and the body.
    fn get(&self, path: &str) -> (u16, String) {
        let mut answer = agent().get(format!("{}{path}", self.url)).call().unwrap();
        (answer.status().as_u16(), answer.body_mut().read_to_string().unwrap())
    }

    /// The orders of all pages.
    fn all(&self) -> Vec<Order> {
        let range = "from=2026-01-01T00:00:00Z&to=2100-01-01T00:00:00%2B01:00&limit=999";
        let mut orders: Vec<Order> = Vec::new();
        loop {
            let after = orders.last().map_or("", |order| &order.id);
            let (status, page) = self.get(&format!("/orders?{range}&after={after}"));
            assert_eq!(status, 200, "{page}");
            let page: Vec<Order> = serde_json::from_str(&page).unwrap();
            if page.is_empty() {
                return orders;
            }
            assert!(page.len() <= 999);
            orders.extend(page);
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Its connection is kept alive.
fn agent() -> Agent {
    Agent::config_builder().http_status_as_error(false).build().into()
}

/// Sends orders from several threads, stops the service in the middle, and returns what it has
/// answered.
fn send_and_stop(service: &Service) -> Vec<Order> {
    let (sent, answered, stopped) =
        (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    let client = || {
        let (agent, url) = (agent(), format!("{}/orders", service.url));
        let mut orders = Vec::new();
        loop {
            let number = sent.fetch_add(1, Ordering::SeqCst);
            if number >= ORDERS {
                return orders;
            }
            let item = format!("item {number}");
            match agent
                .post(&url)
                .send_json(BTreeMap::from([("branch", "berlin"), ("item", &item)]))
            {
                Ok(mut answer) => {
                    assert_eq!(answer.status(), 201);
                    let order: Order = answer.body_mut().read_json().unwrap();
                    assert_eq!(order.item, item);
                    orders.push(order);
                    if answered.fetch_add(1, Ordering::SeqCst) + 1 == STOP_AT {
                        stopped.store(true, Ordering::SeqCst);
                        service.stop();
                    }
                }
                Err(error) => assert!(stopped.load(Ordering::SeqCst), "{error}"),
            }
        }
    };
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(client)).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    })
}

/// Several clients ask for invoices of the same orders at once.
fn invoices_have_no_gap(service: &Service, answered: &[Order]) {
    let orders = &answered[..40];
    let ask = || {
        let agent = agent();
        let number = |order: &Order| {
            let url = format!("{}/orders/{}/invoice", service.url, order.id);
            let mut answer = agent.post(&url).send_empty().unwrap();
            assert_eq!(answer.status(), 200);
            answer.body_mut().read_to_string().unwrap()
        };
        orders.iter().map(number).collect::<Vec<_>>()
    };
    let all: Vec<Vec<String>> = thread::scope(|scope| {
        let clients: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    assert!(all.iter().all(|numbers| *numbers == all[0]), "an order has one invoice");
    let numbers: BTreeSet<String> = all[0].iter().map(|text| text[5..10].to_owned()).collect();
    let expected: Vec<String> = (1..=orders.len()).map(|number| format!("{number:05}")).collect();
    assert_eq!(numbers.into_iter().collect::<Vec<_>>(), expected);
    let (_, order) = service.get(&format!("/orders/{}", orders[0].id));
    let order: Order = serde_json::from_str(&order).unwrap();
    assert_eq!(order.invoice.as_ref(), Some(&all[0][0]));
}

fn loses_nothing(
    dir: &Path,
    database: Option<&str>,
    registry: impl Fn() -> Box<dyn RegistryAdmin>,
) {
    let service = Service::start(dir, database);
    assert_eq!(service.get("/livez").0, 200);
    let answered = send_and_stop(&service);
    assert!(service.wait().success());
    assert!((STOP_AT..ORDERS).contains(&answered.len()), "{}", answered.len());

    let lease_is_free = || {
        let workers = registry().workers().unwrap();
        assert_eq!(workers.len(), 1, "{workers:?}");
        assert_eq!(workers[0].lease.as_ref().expect("it is leased").holder, None);
    };
    lease_is_free();

    let service = Service::start(dir, database);
    let orders = service.all();
    let mut by_item = BTreeMap::new();
    let mut numbers = BTreeSet::new();
    for order in &orders {
        assert_eq!(by_item.insert(&order.item, &order.id), None, "{order:?} is there twice");
        assert!(order.id.starts_with("ord_") && order.number.starts_with("berlin-"), "{order:?}");
        assert!(numbers.insert(&order.number), "{order:?} has the number of another");
    }
    for order in &answered {
        assert_eq!(by_item.get(&order.item), Some(&&order.id), "{order:?} was answered");
    }
    // Each request that the service began was answered, too.
    assert_eq!(orders.len(), answered.len());

    let (status, order) = service.get(&format!("/orders/{}", answered[0].id));
    assert_eq!(status, 200);
    assert_eq!(serde_json::from_str::<Order>(&order).unwrap(), answered[0]);
    let made_up = format!("{}A", &answered[0].id[..answered[0].id.len() - 1]);
    for id in ["1", "ord_1", &made_up] {
        assert!(id == answered[0].id || service.get(&format!("/orders/{id}")).0 == 404, "{id}");
    }
    invoices_have_no_gap(&service, &answered);
    let years = |from, to| format!("/orders?from={from}-01-01T00:00:00Z&to={to}-01-01T00:00:00Z");
    assert_eq!(service.get(&years("2090", "2100")), (200, "[]".to_owned()));
    assert_eq!(service.get(&years("2027", "2026")), (200, "[]".to_owned()));
    assert_eq!(service.get(&years("never", "2026")).0, 400);

    service.stop();
    assert!(service.wait().success());
    // The same worker id, for the second time.
    lease_is_free();
}

#[test]
fn a_stop_loses_no_order_in_sqlite() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("shop.db");
    loses_nothing(dir.path(), None, || Box::new(SqliteRegistry::open_existing(&file).unwrap()));
}

#[test]
#[ignore = "needs a PostgreSQL server"]
fn a_stop_loses_no_order_in_postgres() {
    let dir = tempfile::tempdir().unwrap();
    let database = Server::Postgres.database();
    let url = &database.url;
    loses_nothing(dir.path(), Some(url), || Box::new(PostgresRegistry::open(url).unwrap()));
}
