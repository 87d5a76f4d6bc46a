//! What Linux tells of mounts: whether a file is mounted by itself, and whether it is on a network
//! file system.
//!
//! The list of mounts tells more than `statfs`, which has one number for all that is in user space:
//! `sshfs` and an encrypted folder of this machine look the same to it.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The mounts of this process, as it sees them; none where the system does not tell.
pub struct Mounts(Vec<u8>);

/// One of them.
#[derive(Debug, PartialEq, Eq)]
struct Mount<'a> {
    /// The device, as `major:minor`.
    device: &'a [u8],
    /// Where it is mounted, with escapes.
    place: &'a [u8],
    /// The type of the file system, such as `ext4`.
    kind: &'a str,
    /// What is mounted, such as a device, or a server and a folder of it.
    source: &'a str,
}

impl Mounts {
    pub fn of_process() -> Mounts {
        Mounts(fs::read("/proc/self/mountinfo").unwrap_or_default())
    }

    fn all(&self) -> impl Iterator<Item = Mount<'_>> {
        self.0.split(|&byte| byte == b'\n').filter_map(|line| {
            let mut words = line.split(|&byte| byte == b' ');
            let device = words.nth(2)?;
            let place = words.nth(1)?;
            // Optional fields end with a hyphen.
            words.find(|word| *word == b"-")?;
            let mut text = || str::from_utf8(words.next()?).ok();
            Some(Mount { device, place, kind: text()?, source: text().unwrap_or_default() })
        })
    }

    /// Whether something is mounted at the file `path`: a container's volume may be one file.
    pub fn are_at(&self, path: &Path) -> bool {
        let Ok(path) = path.canonicalize() else { return false };
        let path = escaped(&path);
        self.all().any(|mount| mount.place == path)
    }

    /// The type of the network file system that the file `path` is on, or will be on.
    pub fn network_of(&self, path: &Path) -> Option<String> {
        let (path, device) = nearest(path).ok()?;
        network(&self.of_device(&path, device)?)
    }

    /// The mount of `path`, which is on this device.
    fn of_device(&self, path: &Path, device: u64) -> Option<Mount<'_>> {
        let path = escaped(path);
        let depth = |mount: &Mount<'_>| {
            let rest = path.strip_prefix(mount.place)?;
            let is_below = rest.is_empty() || rest[0] == b'/' || mount.place.ends_with(b"/");
            is_below.then_some(mount.place.len())
        };
        // All mounts of a device have one file system. Some file systems have numbers for their
        // parts that are no mount's: then it is the mount that the path leads to, the deepest, and
        // of those at one place the last.
        let number = number(device);
        self.all()
            .find(|mount| mount.device == number.as_bytes())
            .or_else(|| self.all().filter(|mount| depth(mount).is_some()).max_by_key(depth))
    }
}

/// `path` if it is there, or the folder that it will be in, without links; and its device.
fn nearest(path: &Path) -> io::Result<(std::path::PathBuf, u64)> {
    let there = path.canonicalize().or_else(|error| match path.parent() {
        Some(folder) if error.kind() == io::ErrorKind::NotFound => folder.canonicalize(),
        _ => Err(error),
    })?;
    let device = fs::metadata(&there)?.dev();
    Ok((there, device))
}

/// The number of a device as the list of mounts has it.
fn number(device: u64) -> String {
    let major = (device >> 8) & 0xfff | (device >> 32) & 0xffff_f000;
    let minor = device & 0xff | (device >> 12) & 0xffff_ff00;
    format!("{major}:{minor}")
}

/// A path as the list of mounts has it.
fn escaped(path: &Path) -> Vec<u8> {
    let mut escaped = Vec::new();
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b' ' | b'\t' | b'\n' | b'\\' => escaped.extend(format!("\\{byte:03o}").bytes()),
            byte => escaped.push(byte),
        }
    }
    escaped
}

/// File systems of the kernel whose files other machines have, or the host of a virtual one.
const NETWORK: [&str; 26] = [
    "9p",
    "acfs",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "coda",
    "davfs",
    "gfs2",
    "glusterfs",
    "gpfs",
    "lustre",
    "ncpfs",
    "nfs",
    "nfs4",
    "ocfs2",
    "orangefs",
    "panfs",
    "prl_fs",
    "pvfs2",
    "smb3",
    "smbfs",
    "vboxsf",
    "virtiofs",
    "vmhgfs",
    "wekafs",
];

/// Such file systems in user space. The longer names may be a part of the whole one.
const FUSE_NETWORK: [&str; 38] = [
    "afs",
    "alluxio",
    "beegfs",
    "blobfuse",
    "ceph",
    "ceph-fuse",
    "cosfs",
    "cubefs",
    "curlftpfs",
    "cvmfs",
    "davfs",
    "dfuse",
    "gcsfuse",
    "gluster",
    "goofys",
    "grpcfuse",
    "gvfsd",
    "hdfs",
    "juicefs",
    "litefs",
    "lizardfs",
    "mfs",
    "moosefs",
    "mount-s3",
    "mountpoint-s3",
    "nfs",
    "objectivefs",
    "obsfs",
    "osxfs",
    "quobyte",
    "rclone",
    "s3backer",
    "s3fs",
    "s3ql",
    "seaweedfs",
    "smbnetfs",
    "sshfs",
    "vmhgfs",
];

/// What to call it, if it is a network file system.
fn network(mount: &Mount<'_>) -> Option<String> {
    let Mount { kind, source, .. } = mount;
    let Some(name) = kind.strip_prefix("fuse") else {
        return NETWORK.contains(kind).then(|| (*kind).to_owned());
    };
    // `fuseblk` is for disks. Others have their name behind a dot, or in place of what is mounted.
    let name = match name.strip_prefix('.') {
        Some(name) => name,
        None if name.is_empty() => source,
        None => return None,
    };
    let lower = name.to_ascii_lowercase();
    // "user@host:/folder", "https://host/folder".
    let is_elsewhere = source.contains(":/");
    let is_known = |known: &str| lower == known || known.len() > 4 && lower.contains(known);
    (is_elsewhere || FUSE_NETWORK.iter().any(|known| is_known(known)))
        .then(|| format!("fuse.{}", if name == *source && is_elsewhere { "?" } else { name }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Linux, and Docker, Kubernetes and clouds on it, have them.
    const LINES: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
501 27 0:45 / /mnt/nfs\\040share rw,relatime shared:262 - nfs4 10.0.0.2:/ids rw,vers=4.2,nolock
502 27 0:46 /ids /var/lib/ids rw,relatime master:1 - nfs fs-1.efs.aws.example:/ rw,vers=3
503 27 0:47 / /mnt/cifs rw,relatime - cifs //server/share rw,vers=3.1.1
504 27 0:48 / /mnt/9p rw,relatime - 9p share rw,trans=virtio
505 27 0:49 / /mnt/ceph rw,relatime - ceph 10.0.0.3:6789:/ rw,name=admin
506 27 0:50 / /mnt/sshfs rw,nosuid - fuse.sshfs me@host:/home/me rw,user_id=0
507 27 0:51 / /mnt/gluster rw,relatime - fuse.glusterfs gfs1:/volume rw
508 27 0:52 / /mnt/s3 rw,relatime - fuse mountpoint-s3 rw
509 27 0:53 / /mnt/dav rw,relatime - fuse https://cloud.example/dav rw
510 27 0:54 / /mnt/lustre rw - lustre 10.0.0.4@tcp:/scratch rw
511 27 0:55 / /litefs rw - fuse.litefs litefs rw
512 27 0:56 / /mnt/virtiofs rw - virtiofs share rw
520 27 0:60 / /mnt/ntfs rw,relatime - fuseblk /dev/sdb1 rw
521 27 0:61 / /home/me/private rw - fuse.gocryptfs /home/me/cipher rw
522 27 0:62 / /overlay rw - fuse.fuse-overlayfs fuse-overlayfs rw
523 27 0:63 / /container rw - overlay overlay rw,lowerdir=/l,upperdir=/u
524 27 0:64 / /btrfs rw - btrfs /dev/sdc rw
525 27 0:65 / /bind rw - fuse.bindfs /srv/ids rw
529 27 0:70 / /union rw - fuse.unionfs unionfs rw
526 524 0:66 / /btrfs/over rw - smb3 //server/other rw
527 27 0:67 / /mnt/twice rw - nfs4 10.0.0.2:/old rw
528 527 8:1 / /mnt/twice rw - ext4 /dev/sda1 rw
a line that is none
";

    #[test]
    fn network_file_systems_are_told_from_local_ones() {
        let mounts = Mounts(LINES.as_bytes().to_owned());
        // A device that no mount has, so that the path alone tells.
        let elsewhere = 0xfe_0001;
        let kind = |path: &str, device| {
            mounts.of_device(Path::new(path), device).and_then(|mount| network(&mount))
        };
        for (path, found) in [
            ("/mnt/nfs share/ids.db", Some("nfs4")),
            ("/var/lib/ids", Some("nfs")),
            ("/var/lib/ids/a/b.db", Some("nfs")),
            ("/mnt/cifs/ids.db", Some("cifs")),
            ("/mnt/9p/ids.db", Some("9p")),
            ("/mnt/ceph/ids.db", Some("ceph")),
            ("/mnt/sshfs/ids.db", Some("fuse.sshfs")),
            ("/mnt/gluster/ids.db", Some("fuse.glusterfs")),
            ("/mnt/s3/ids.db", Some("fuse.mountpoint-s3")),
            ("/mnt/dav/ids.db", Some("fuse.?")),
            ("/mnt/lustre/ids.db", Some("lustre")),
            ("/litefs/ids.db", Some("fuse.litefs")),
            ("/mnt/virtiofs/ids.db", Some("virtiofs")),
            ("/btrfs/over/ids.db", Some("smb3")),
            ("/", None),
            ("/var/lib/ids2/ids.db", None),
            ("/mnt/ntfs/ids.db", None),
            ("/home/me/private/ids.db", None),
            ("/overlay/ids.db", None),
            ("/container/ids.db", None),
            ("/btrfs/ids.db", None),
            ("/bind/ids.db", None),
            ("/union/ids.db", None),
            ("/mnt/twice/ids.db", None),
        ] {
            assert_eq!(kind(path, elsewhere).as_deref(), found, "{path}");
        }
        // The device tells by itself: 0:45 is 45, and 8:1 is 2049.
        assert_eq!(kind("/anywhere", 45).as_deref(), Some("nfs4"));
        assert_eq!(kind("/mnt/nfs share/ids.db", 2049), None);
        assert_eq!(number(0x10_3401_u64), "52:257");
    }

    #[test]
    fn the_mount_of_a_real_file_is_found() {
        let mounts = Mounts::of_process();
        let path = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (path, device) = nearest(path).unwrap_or_default();
        let mount = mounts.of_device(&path, device);
        assert_eq!(mount.is_some(), !mounts.0.is_empty(), "{path:?}");
    }
}
