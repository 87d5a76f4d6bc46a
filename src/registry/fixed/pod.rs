//! The ordinal of a pod in a Kubernetes `StatefulSet`.
//!
//! The label `apps.kubernetes.io/pod-index` says it, where the pod is given its labels by the
//! downward API. Without it, the pod's name does, which is also the host name. But many names end
//! in a number that is no ordinal, and two hosts of such names could have the same one: a name
//! counts where its number can hardly be anything else.

use std::env;
use std::fs;

use crate::registry::RegistryError;

/// The variable with the label, as Kubernetes' users call it.
const VARIABLE: &str = "POD_INDEX";
/// The file with all labels, where Kubernetes' documentation mounts it.
const LABELS: &str = "/etc/podinfo/labels";
const LABEL: &str = "apps.kubernetes.io/pod-index";
const NAME: &str = "/etc/hostname";
/// The kubelet writes it, and says in its first line whether the pod has the network of its node.
const HOSTS: &str = "/etc/hosts";

/// The ordinal of the pod that this process is in.
pub fn ordinal() -> Result<u64, RegistryError> {
    let file = |path| fs::read_to_string(path).unwrap_or_default();
    // The kubelet writes the pod's name to the file; the variable can be changed by a shell.
    let name = fs::read_to_string(NAME).ok().or_else(|| env::var("HOSTNAME").ok());
    Pod {
        index: env::var_os(VARIABLE).unwrap_or_default().to_string_lossy().into_owned(),
        labels: file(LABELS),
        name: name.unwrap_or_default(),
        hosts: file(HOSTS),
    }
    .ordinal()
}

/// What a process can know of its pod. Each text is empty where there is none.
struct Pod {
    index: String,
    labels: String,
    name: String,
    hosts: String,
}

impl Pod {
    fn ordinal(&self) -> Result<u64, RegistryError> {
        // Of a label that the pod does not have, the downward API makes an empty text.
        let index = self.index.trim();
        if !index.is_empty() {
            return number(index).ok_or_else(|| RegistryError::NoNumber {
                place: format!("the environment variable {VARIABLE}"),
                problem: format!("it holds {index:?}, which is not the index of a pod"),
            });
        }
        if let Some(index) = self.labels.lines().find_map(label) {
            return number(index).ok_or_else(|| RegistryError::NoNumber {
                place: format!("the file {LABELS}"),
                problem: format!("its label {LABEL} is {index:?}"),
            });
        }
        let name = self.name.trim();
        let found = if self.hosts.lines().next().is_some_and(|line| line.contains("host network")) {
            Err("is the name of the node, whose network the pod has")
        } else {
            of_name(name)
        };
        found.map_err(|problem| RegistryError::NoNumber {
            place: "the host name".to_owned(),
            problem: format!(
                "{name:?} {problem}; give the pod a variable {VARIABLE} with its label {LABEL}, by \
                 the downward API"
            ),
        })
    }
}

/// The value of the label in a line of the downward API, such as `app="orders"`.
fn label(line: &str) -> Option<&str> {
    line.trim().strip_prefix(LABEL)?.strip_prefix("=\"")?.strip_suffix('"')
}

/// As Kubernetes writes it: without leading zeros.
fn number(digits: &str) -> Option<u64> {
    let number = digits.parse().ok()?;
    (u64::to_string(&number) == digits).then_some(number)
}

/// The number after the last hyphen of a pod's name, or what is wrong with it.
fn of_name(name: &str) -> Result<u64, &'static str> {
    let no_ordinal = "does not end in a hyphen and an ordinal, as a pod's of a StatefulSet does";
    let (set, digits) = name.rsplit_once('-').ok_or(no_ordinal)?;
    let ordinal = number(digits).ok_or(no_ordinal)?;
    // Deployments, DaemonSets and Jobs end the names of their pods with five letters and digits.
    if digits.len() >= 5 {
        return Err("may end in random characters, as a pod's of a Deployment does");
    }
    // Such as `ip-10-0-3-17` and `dhcp-3-17`.
    let before = set.rsplit('-').next().unwrap_or_default();
    let is_hexadecimal = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    if before.bytes().all(|byte| byte.is_ascii_digit())
        || set.strip_prefix("ip-").is_some_and(|rest| rest.split('-').all(is_hexadecimal))
    {
        return Err("may be made of an address, as a machine's is");
    }
    Ok(ordinal)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn pod(index: &str, labels: &str, name: &str, hosts: &str) -> Result<u64, String> {
        let [index, labels, name, hosts] = [index, labels, name, hosts].map(str::to_owned);
        Pod { index, labels, name, hosts }.ordinal().map_err(|error| error.to_string())
    }

    #[test]
    fn an_ordinal_is_what_kubernetes_appends() {
        for (name, ordinal) in [
            ("orders-0", 0),
            ("orders-eu-17", 17),
            ("orders-v2-1058", 1058),
            ("ip-pool-3", 3),
            ("orders2-9999\n", 9999),
        ] {
            assert_eq!(pod("", "", name, ""), Ok(ordinal), "{name:?}");
        }
        for name in [
            "",
            "orders",
            "orders-",
            "orders-x",
            "orders-07",
            "orders-+7",
            "7",
            "orders-18446744073709551616",
            "orders-3.orders.default.svc.cluster.local",
            "ip-10-0-3-17.ec2.internal",
        ] {
            let error = pod("", "", name, "").unwrap_err();
            assert!(error.contains("does not end in a hyphen and an ordinal"), "{name}: {error}");
        }
    }

    /// What a name ends in without being an ordinal.
    #[test]
    fn a_number_that_need_not_be_an_ordinal_is_refused() {
        for (name, problem) in [
            ("web-7d4b9c6d5f-24567", "of a Deployment"),
            ("web-3056734132-13579", "of a Deployment"),
            ("fluentd-99999", "of a Deployment"),
            ("runner-123456", "of a Deployment"),
            ("ip-10-0-3-17", "of an address"),
            ("10-0-3-17", "of an address"),
            ("dhcp-3-17", "of an address"),
            ("vm-192-168-1-5", "of an address"),
            ("ip-2600-1f18-beef-17", "of an address"),
            ("ip-fd00--17", "of an address"),
            ("web--5", "of an address"),
        ] {
            let error = pod("", "", name, "").unwrap_err();
            assert!(error.contains(problem), "{name}: {error}");
            assert!(error.contains("give the pod a variable POD_INDEX"), "{error}");
        }
    }

    #[test]
    fn the_name_of_a_node_is_none_of_a_pod() {
        let own = "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n10.1.0.7\tworker-2\n";
        assert_eq!(pod("", "", "worker-2", own), Ok(2));
        let hosts = "# Kubernetes-managed hosts file (host network).\n127.0.0.1\tlocalhost\n";
        let error = pod("", "", "worker-2", hosts).unwrap_err();
        assert!(error.contains("\"worker-2\" is the name of the node"), "{error}");
        assert_eq!(pod("5", "", "worker-2", hosts), Ok(5));
    }

    #[test]
    fn the_label_comes_before_the_name() {
        let labels = "app=\"orders\"\napps.kubernetes.io/pod-index=\"4\"\nx=\"y\"";
        assert_eq!(pod("3", labels, "web-7", ""), Ok(3));
        assert_eq!(pod("", labels, "web-7", ""), Ok(4));
        assert_eq!(pod("", labels, "web-7d4b9c6d5f-24567", ""), Ok(4));
        assert_eq!(pod(" 12345\n", "", "web-7", ""), Ok(12_345));
        // A pod without the label.
        assert_eq!(pod("", "app=\"orders\"\n", "web-7", ""), Ok(7));
        for wrong in ["x", "-1", "07", "web-7", "18446744073709551616"] {
            let error = pod(wrong, "", "web-7", "").unwrap_err();
            assert!(error.contains("variable POD_INDEX: it holds"), "{error}");
            let labels = format!("{LABEL}=\"{wrong}\"");
            let error = pod("", &labels, "web-7", "").unwrap_err();
            assert!(error.contains("/etc/podinfo/labels"), "{error}");
        }
    }
}
