use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Compare, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, sock_filter,
};

/// What there is beside the sockets that are pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sockets {
    pub(super) ip: Ip,
    /// Those that have a path.
    pub(super) local: bool,
    /// Whether memory, semaphores and queues that have numbers are only shared within the sandbox.
    pub(super) shared_memory: bool,
}

/// What there is of IP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ip {
    None,
    /// What Landlock confines to ports.
    Tcp,
    TcpAndUdp,
    /// Streams and datagrams.
    Any,
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// The calls that look into other processes, change what files and networks there are, or are a way around this filter.
const REFUSED: [i64; 49] = [
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_lookup_dcookie,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_move_pages,
    libc::SYS_nfsservctl,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
    OPEN_TREE_ATTR,
    QUOTACTL_FD,
];

/// The numbers of calls that are the same on all architectures and younger than the names for them.
const OPEN_TREE_ATTR: i64 = 467;
const QUOTACTL_FD: i64 = 443;

/// The calls of which memory, semaphores and queues of other processes can be had.
const SHARED_MEMORY: [i64; 7] = [
    libc::SYS_mq_open,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_shmat,
    libc::SYS_shmget,
    libc::SYS_semop,
    libc::SYS_msgsnd,
];

/// The calls that programs do without when they are told that there are none: `clone3` keeps its flags in memory, where no
/// filter sees them, and `io_uring` makes calls that no filter sees.
const UNKNOWN: [i64; 4] =
    [libc::SYS_clone3, libc::SYS_io_uring_enter, libc::SYS_io_uring_register, libc::SYS_io_uring_setup];

/// The flags of `clone` that make a namespace; that of time is for `unshare` alone.
const NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// The type of sockets that packets were once had by (`SOCK_PACKET`).
const PACKET: libc::c_int = 10;

/// What of a socket's type is not a flag.
const TYPE: u64 = 0xf;

/// Gives the filters of a kind, made when they are first needed.
pub(super) fn filters(sockets: Sockets) -> io::Result<Arc<[BpfProgram]>> {
    static MADE: Mutex<BTreeMap<Sockets, Arc<[BpfProgram]>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(filters) = made.get(&sockets) {
        return Ok(Arc::clone(filters));
    }
    let filters: Arc<[BpfProgram]> = make(sockets).map_err(io::Error::other)?.into();
    made.insert(sockets, Arc::clone(&filters));
    Ok(filters)
}

fn make(sockets: Sockets) -> Result<Vec<BpfProgram>, seccompiler::BackendError> {
    let unknown = UNKNOWN.map(|call| (call, Vec::new())).into();
    Ok(vec![with_errno(unknown, libc::ENOSYS)?, only_own_calls(with_errno(refused(sockets)?, libc::EPERM)?)])
}

fn with_errno(rules: Rules, errno: i32) -> Result<BpfProgram, seccompiler::BackendError> {
    let arch: TargetArch = std::env::consts::ARCH.try_into()?;
    let errno = SeccompAction::Errno(errno.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, errno, arch)?.try_into()
}

/// Refuses the calls of x32, which are those of `x86_64` under other numbers, so that no other rule speaks of them.
fn only_own_calls(program: BpfProgram) -> BpfProgram {
    if !cfg!(target_arch = "x86_64") {
        return program;
    }
    let statement =
        |code: u32, jt, jf, k| sock_filter { code: code.try_into().unwrap_or_default(), jt, jf, k };
    let mut all = vec![
        // The number of the call is what stands first.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, 0x4000_0000),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs()),
    ];
    all.extend(program);
    all
}

fn refused(sockets: Sockets) -> Result<Rules, seccompiler::BackendError> {
    let mut rules: Rules = REFUSED.map(|call| (call, Vec::new())).into();
    if !sockets.shared_memory {
        rules.extend(SHARED_MEMORY.map(|call| (call, Vec::new())));
    }
    let has = |flag: u64| Compare::MaskedEq(flag);
    let bits = NAMESPACES.map(|flag| u64::from(flag.unsigned_abs()));
    let clones = bits.map(|bit| rule(&[(0, Length::Qword, has(bit), bit)]));
    rules.insert(libc::SYS_clone, clones.into_iter().collect::<Result<_, _>>()?);
    // They type into the terminal of whoever started the host.
    let typing = [libc::TIOCSTI, libc::TIOCLINUX].map(|request| {
        // Whatever stands above the 32 bits that the kernel reads.
        rule(&[(1, Length::Dword, Compare::Eq, request)])
    });
    rules.insert(libc::SYS_ioctl, typing.into_iter().collect::<Result<_, _>>()?);
    rules.insert(libc::SYS_socket, socket(sockets)?);
    let not_local = (0, Length::Dword, Compare::Ne, domain(libc::AF_UNIX));
    rules.insert(libc::SYS_socketpair, vec![rule(&[not_local])?]);
    // With this flag sending connects, and Landlock is not asked.
    let fast_open = u64::from(libc::MSG_FASTOPEN.unsigned_abs());
    for (call, argument) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)] {
        rules.insert(call, vec![rule(&[(argument, Length::Dword, has(fast_open), fast_open)])?]);
    }
    Ok(rules)
}

/// What sockets there cannot be. Those of netlink, packets, virtual machines and the kernel's ciphers are never there.
fn socket(Sockets { ip, local, .. }: Sockets) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let families_of_ip = if ip == Ip::None { &[] } else { [libc::AF_INET, libc::AF_INET6].as_slice() };
    let local = if local { [libc::AF_UNIX].as_slice() } else { &[] };
    let families: Vec<u64> = families_of_ip.iter().chain(local).map(|family| domain(*family)).collect();
    if families.is_empty() {
        return Ok(Vec::new());
    }
    let others: Vec<_> = families.iter().map(|family| (0, Length::Dword, Compare::Ne, *family)).collect();
    let mut rules = vec![rule(&others)?];
    let mut refused_kinds =
        vec![libc::SOCK_RAW, libc::SOCK_RDM, libc::SOCK_SEQPACKET, libc::SOCK_DCCP, PACKET];
    // A stream of another protocol, such as MPTCP, is none to Landlock.
    let mut protocols = vec![(libc::SOCK_STREAM, libc::IPPROTO_TCP)];
    match ip {
        Ip::None | Ip::Any => {}
        Ip::Tcp => refused_kinds.push(libc::SOCK_DGRAM),
        Ip::TcpAndUdp => protocols.push((libc::SOCK_DGRAM, libc::IPPROTO_UDP)),
    }
    for family in families_of_ip.iter().map(|family| domain(*family)) {
        let of_family = (0, Length::Dword, Compare::Eq, family);
        let is =
            |kind: libc::c_int| (1, Length::Dword, Compare::MaskedEq(TYPE), u64::from(kind.unsigned_abs()));
        for kind in &refused_kinds {
            rules.push(rule(&[of_family.clone(), is(*kind)])?);
        }
        let not = |protocol: libc::c_int| (2, Length::Dword, Compare::Ne, u64::from(protocol.unsigned_abs()));
        for (kind, protocol) in &protocols {
            rules.push(rule(&[of_family.clone(), is(*kind), not(0), not(*protocol)])?);
        }
    }
    Ok(rules)
}

fn domain(family: libc::c_int) -> u64 {
    u64::from(family.unsigned_abs())
}

type Condition = (u8, Length, Compare, u64);

fn rule(conditions: &[Condition]) -> Result<SeccompRule, seccompiler::BackendError> {
    let conditions = conditions
        .iter()
        .cloned()
        .map(|(argument, length, compare, value)| SeccompCondition::new(argument, length, compare, value));
    SeccompRule::new(conditions.collect::<Result<_, _>>()?)
}
