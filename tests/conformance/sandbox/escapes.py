"""Attempts to leave a sandbox or to harm its host, as a table. Each is a Python script that runs inside.

A script calls `escaped(…)` if it got through, and ends otherwise. `tries(…)` runs an attempt that must fail with an
OSError. `HOST` holds what the host offers as bait: a secret file, a TCP port, an abstract socket, a process.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent

from libs.sandbox.ports import Limit

PRELUDE = """
import ctypes, errno, fcntl, json, mmap, os, resource, signal, socket, stat, struct, subprocess, sys, time
HOST = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == "x86_64"
def escaped(why):
    print("ESCAPED", why, flush=True)
    os._exit(66)
def tries(attempt, *arguments, **named):
    try:
        found = attempt(*arguments, **named)
    except OSError as refused:
        print("refused:", refused.strerror)
    else:
        escaped(f"{attempt.__name__} gave {found!r}")
def call(x86, arm, *arguments):
    '''A system call by its number.'''
    ctypes.set_errno(0)
    found = libc.syscall(x86 if X86 else arm, *arguments)
    if found < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return found
def write(path, text="x"):
    with open(path, "w") as file: file.write(text)
def read(path):
    with open(path, "rb") as file: return file.read(200)
def connect(address, family=socket.AF_INET, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as one:
        one.settimeout(2)
        one.connect(address)
def spawn(act):
    child = os.fork()
    if child == 0:
        act()
        os._exit(0)
    return child
"""


@dataclass(frozen=True)
class Escape:
    """An attempt. `limit` is the one that must end it, if one must; `seconds` its time limit."""

    name: str
    script: str
    limit: Limit | None = None
    seconds: float = 15.0

    @property
    def source(self) -> str:
        return PRELUDE + dedent(self.script)


NETWORK = (
    Escape("tcp to an address", "tries(connect, ('192.0.2.1', 80))"),
    Escape("udp to an address", "tries(connect, ('192.0.2.1', 53), kind=socket.SOCK_DGRAM)"),
    Escape("ipv6 to an address", "tries(connect, ('2001:db8::1', 80), socket.AF_INET6)"),
    Escape("dns by the resolver", "tries(socket.getaddrinfo, 'example.org', 80)"),
    Escape("dns by hand", "tries(connect, ('192.0.2.53', 53), kind=socket.SOCK_DGRAM)"),
    Escape("metadata by ipv4", "tries(connect, ('169.254.169.254', 80))"),
    Escape("metadata by ipv6", "tries(connect, ('fd00:ec2::254', 80), socket.AF_INET6)"),
    Escape("metadata as a number", "tries(connect, ('2852039166', 80))"),
    Escape("port of the host", "tries(connect, ('127.0.0.1', HOST['port']))"),
    Escape("broadcast", "tries(connect, ('255.255.255.255', 67), kind=socket.SOCK_DGRAM)"),
    Escape("abstract socket of the host", "tries(connect, HOST['abstract'], socket.AF_UNIX)"),
    Escape("socket file of the host", "tries(connect, HOST['socket'], socket.AF_UNIX)"),
    Escape("engine's socket", "for path in HOST['engine']: tries(connect, path, socket.AF_UNIX)"),
    Escape("raw socket", "tries(socket.socket, socket.AF_INET, socket.SOCK_RAW, 1)"),
    Escape("packet socket", "tries(socket.socket, 17, socket.SOCK_RAW)"),
    Escape("netlink socket", "tries(socket.socket, 16, socket.SOCK_RAW)"),
    Escape("vsock to the hypervisor", "tries(socket.socket, 40, socket.SOCK_STREAM)"),
    Escape("kernel's cryptography socket", "tries(socket.socket, 38, socket.SOCK_SEQPACKET)"),
    Escape(
        "interface made up",
        """
        with socket.socket() as one:
            tries(fcntl.ioctl, one, 0x8914, struct.pack('16sH', b'lo', 0x41))  # SIOCSIFFLAGS
        """,
    ),
)

FILES = (
    Escape(
        "write to the root",
        "for at in ('/', '/etc', '/usr', '/usr/bin', '/opt', '/run', '/var'): tries(write, f'{at}/x')",
    ),
    Escape("replace a program", "tries(os.rename, '/usr/bin/env', '/usr/bin/env2'); tries(os.unlink, '/usr/bin/env')"),
    Escape("write to accounts", "tries(write, '/etc/passwd', 'root::0:0::/:/bin/sh')"),
    Escape("write to the runner", "for at in ('/opt/runner.py', '/run/suma/runner.py'): tries(open, at, 'r+')"),
    Escape("write to the linker's cache", "for at in ('/etc/ld.so.preload', '/etc/ld.so.cache'): tries(open, at, 'a')"),
    Escape("file in the devices", "tries(write, '/dev/x')"),
    Escape("secret by its path", "tries(read, HOST['secret'])"),
    Escape("secret by going up", "tries(read, '../' * 20 + HOST['secret'])"),
    Escape("secret by a link", "os.symlink(HOST['secret'], 'link'); tries(read, 'link')"),
    Escape(
        "secret by a link to a folder", "os.symlink(os.path.dirname(HOST['secret']), 'way'); tries(read, 'way/secret')"
    ),
    Escape("secret by this process's root", "tries(read, '/proc/self/root' + HOST['secret'])"),
    Escape("secret by process 1's root", "tries(read, '/proc/1/root' + HOST['secret'])"),
    Escape("secret by process 1's folder", "tries(os.listdir, '/proc/1/cwd/')"),
    Escape("secret by its number", "tries(read, f\"/proc/{HOST['process']}/root{HOST['secret']}\")"),
    Escape(
        "hard link to a system file",
        "tries(os.link, '/etc/passwd', 'passwd'); tries(os.link, '/usr/bin/env', '/tmp/env')",
    ),
    Escape(
        "other folders beside the workspace",
        "found = os.listdir('..'); 'home' in found and os.listdir('/home') and escaped(found)",
    ),
    Escape("open by handle", "tries(call, 304, 265, -100, ctypes.create_string_buffer(64), 0)"),
    Escape(
        "folder kept open across a move",
        """
        os.makedirs('deep/deep', exist_ok=True)
        fd = os.open('deep/deep', os.O_DIRECTORY)
        os.rename('deep/deep', 'moved')
        os.chdir(fd)
        tries(read, '../../..' + HOST['secret'])
        """,
    ),
)

MOUNTS = (
    Escape("mount a file system", "tries(call, 165, 40, b'none', b'/workspace', b'tmpfs', 0, 0)"),
    Escape(
        "mount the root writable",
        "tries(call, 165, 40, 0, b'/', 0, 32, 0); tries(call, 165, 40, 0, b'/usr', 0, 4128, 0)",
    ),
    Escape("unmount the workspace", "tries(call, 166, 39, b'/workspace', 2)"),
    Escape("unmount what covers /proc", "tries(call, 166, 39, b'/proc', 2)"),
    Escape("mount by the newer calls", "tries(call, 430, 430, b'tmpfs', 0); tries(call, 428, 428, -100, b'/', 1)"),
    Escape("pivot and chroot", "tries(call, 155, 41, b'/workspace', b'/workspace'); tries(os.chroot, '/workspace')"),
    Escape(
        "enter namespaces",
        """
        for name in ('mnt', 'net', 'pid', 'user'):
            tries(lambda: call(308, 268, os.open(f'/proc/self/ns/{name}', 0), 0))
        """,
    ),
    Escape("new namespaces", "for flag in (0x20000, 0x10000000, 0x40000000, 0x20000000): tries(call, 272, 97, flag)"),
    Escape("user namespace by clone", "tries(call, 56, 220, 0x10000011, 0, 0, 0, 0)"),
    Escape("user namespace by clone3", "tries(call, 435, 435, struct.pack('11Q', 0x10000000, *[0] * 10), 88)"),
    Escape(
        "map of users", "tries(write, '/proc/self/uid_map', '0 0 1'); tries(write, '/proc/self/setgroups', 'allow')"
    ),
)

KERNEL = (
    Escape("core pattern", "tries(write, '/proc/sys/kernel/core_pattern', '|/workspace/x')"),
    Escape("program for modules", "tries(write, '/proc/sys/kernel/modprobe', '/workspace/x')"),
    Escape("system request", "tries(write, '/proc/sysrq-trigger', 'c')"),
    Escape("memory of the kernel", "tries(read, '/proc/kcore')"),
    Escape(
        "log of the kernel", "tries(read, '/proc/kmsg'); tries(call, 103, 116, 3, ctypes.create_string_buffer(99), 99)"
    ),
    Escape(
        "writable files of the system",
        """
        for top in ('/proc/sys', '/sys'):
            for folder, _, files in os.walk(top):
                for name in files:
                    try: os.close(os.open(f'{folder}/{name}', os.O_WRONLY | os.O_NONBLOCK))
                    except OSError: continue
                    escaped(f'{folder}/{name}')
        """,
    ),
    Escape("own control group", "tries(os.mkdir, '/sys/fs/cgroup/x'); tries(os.mkdir, '/sys/fs/cgroup/memory/x')"),
    Escape(
        "own memory limit",
        """
        tries(write, '/sys/fs/cgroup/memory/memory.limit_in_bytes', '-1')
        tries(write, '/sys/fs/cgroup/memory.max', 'max')
        """,
    ),
    Escape(
        "release agent",
        "tries(write, '/sys/fs/cgroup/memory/release_agent'); tries(write, '/sys/fs/cgroup/release_agent')",
    ),
    Escape("block device", "for number in (0x800, 0xfe00): tries(os.mknod, 'disk', 0o600 | stat.S_IFBLK, number)"),
    Escape("character device", "tries(os.mknod, 'mem', 0o600 | stat.S_IFCHR, os.makedev(1, 1))"),
    Escape(
        "devices of the host",
        """
        for name in ('mem', 'kmsg', 'kvm', 'fuse', 'vda', 'sda', 'loop-control', 'vhost-vsock', 'net/tun', 'core'):
            tries(open, f'/dev/{name}', 'rb')
        """,
    ),
    Escape("modules", "tries(call, 175, 105, b'', 0, b''); tries(call, 313, 273, 0, b'', 0)"),
    Escape("restart", "tries(call, 169, 142, 0xfee1dead, 672274793, 0x1234567); tries(call, 246, 104, 0, 0, 0, 0)"),
    Escape(
        "clock and name of the host",
        "tries(call, 227, 112, 0, struct.pack('2q', 0, 0)); tries(socket.sethostname, 'x')",
    ),
    Escape("io_uring", "tries(call, 425, 425, 4, ctypes.create_string_buffer(120))"),
    Escape(
        "keys",
        """
        tries(call, 250, 219, 0, -3, 1)
        tries(call, 248, 217, b'user', b'x', b'x', 1, -3)
        tries(call, 249, 218, b'user', b'x', 0, 0)
        """,
    ),
    Escape("bpf", "tries(call, 321, 280, 0, ctypes.create_string_buffer(120), 120)"),
    Escape("perf", "tries(call, 298, 241, ctypes.create_string_buffer(120), 0, -1, -1, 0)"),
    Escape("userfaultfd", "tries(call, 323, 282, 0)"),
    Escape("swap and accounting", "tries(call, 167, 224, b'/workspace/x', 0); tries(call, 163, 89, 0)"),
    Escape(
        "calls of 32 bits",
        """
        if X86:
            code = mmap.mmap(-1, 4096, prot=7)
            code.write(b'\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3')  # getpid by int 0x80
            at = ctypes.addressof(ctypes.c_char.from_buffer(code))
            child = spawn(lambda: os._exit(0 if ctypes.CFUNCTYPE(ctypes.c_int)(at)() > 0 else 1))
            os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 and escaped('answered')
        """,
    ),
    Escape("calls of x32", "X86 and tries(call, 0x40000000 + 39, 0)"),
    Escape("calls yet unknown", "tries(call, 500, 500)"),
)

PRIVILEGES = (
    Escape("become root", "tries(os.setuid, 0); tries(os.setgid, 0); tries(os.setgroups, [0])"),
    Escape(
        "program that sets its user",
        """
        with open('/usr/bin/env', 'rb') as source, open('env', 'wb') as target: target.write(source.read())
        os.chmod('env', 0o6755)
        ids = subprocess.run(['./env', 'id', '-u'], capture_output=True, text=True).stdout
        ids.strip() == '0' and escaped('root')
        for name in ('su', 'sudo', 'mount', 'passwd', 'newgrp', 'pkexec', 'fusermount'):
            try: ended = subprocess.run([name, '-c', 'id -u'], stdin=-3, capture_output=True, text=True, timeout=3)
            except (OSError, subprocess.TimeoutExpired): continue
            ended.stdout.strip() == '0' and escaped(name)
        """,
    ),
    Escape("capabilities", "tries(call, 126, 91, struct.pack('Ii', 0x20080522, 0), struct.pack('6I', *[2**31] * 6))"),
    Escape("new privileges", "libc.prctl(38, 0, 0, 0, 0) == 0 and escaped('prctl')"),
    Escape(
        "no filter of calls", "libc.prctl(22, 0, 0, 0, 0) == 0 and escaped('prctl'); tries(call, 101, 117, 0, 1, 0, 0)"
    ),
    Escape("trace process 1", "tries(call, 101, 117, 16, 1, 0, 0); tries(call, 101, 117, 0x4206, 1, 0, 0)"),
    Escape(
        "memory of process 1", "tries(read, '/proc/1/mem'); tries(read, '/proc/1/environ'); tries(read, '/proc/1/maps')"
    ),
    Escape(
        "read process 1 by a call",
        "tries(call, 310, 270, 1, struct.pack('2Q', 0, 0), 1, struct.pack('2Q', 0, 0), 1, 0)",
    ),
    Escape("files of process 1", "for number in range(12): tries(open, f'/proc/1/fd/{number}', 'wb')"),
    Escape("files of process 1 by a call", "fd = call(434, 434, 1, 0); tries(call, 438, 438, fd, 1, 0)"),
    Escape(
        "processes of the host",
        "seen = [one for one in os.listdir('/proc') if one.isdigit()]; len(seen) > 3 and escaped(seen)",
    ),
    Escape(
        "environment of the host",
        """
        words = (*os.environ, *os.environ.values())
        any('SUMA' in one or HOST['word'] in one for one in words) and escaped(words)
        """,
    ),
    Escape("kill a process of the host", "tries(os.kill, HOST['process'], 9)"),
    Escape(
        "input into a terminal",
        """
        ours, theirs = os.openpty()
        tries(fcntl.ioctl, theirs, 0x5412, b'x')
        tries(fcntl.ioctl, theirs, 0x541C, b'\\3')
        """,
    ),
    Escape(
        "terminal of the host",
        "tries(open, '/dev/tty', 'rb'); tries(open, '/dev/console', 'rb'); tries(open, '/dev/pts/0', 'rb')",
    ),
    Escape("more CPUs", "tries(call, 203, 122, 0, 8, b'\\xff' * 8)"),
    Escape(
        "real-time priority",
        "tries(os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(1)); tries(os.setpriority, 0, 0, -5)",
    ),
    Escape(
        "higher limits",
        """
        try: resource.setrlimit(resource.RLIMIT_NOFILE, (10**6, 10**6))
        except ValueError: pass
        else: escaped('a million files')
        """,
    ),
    Escape(
        "the dynamic linker",
        """
        code = f"open({HOST['secret']!r})"
        for name in os.listdir('/lib64') if os.path.isdir('/lib64') else ():
            if name.startswith('ld-'):
                command = (f'/lib64/{name}', os.path.realpath(sys.executable), '-c', code)
                subprocess.run(command, capture_output=True).returncode == 0 and escaped(name)
        """,
    ),
    Escape(
        "a program from memory",
        """
        fd = os.memfd_create('program')
        os.write(fd, b'#!/bin/sh\\ntest $(id -u) = 0')
        subprocess.run([f'/proc/self/fd/{fd}'], pass_fds=[fd], capture_output=True).returncode == 0 and escaped('root')
        """,
    ),
    Escape(
        "a library before all others",
        """
        os.environ['LD_PRELOAD'] = '/workspace/x.so'
        ids = subprocess.run(['id', '-u'], capture_output=True, text=True).stdout
        ids.strip() == '0' and escaped('root')
        """,
    ),
)

BOMBS = (
    Escape("fork bomb", "while True:\n try: os.fork()\n except OSError: pass", limit="time", seconds=2.0),
    Escape(
        "thread bomb",
        """
        import threading
        try:
            for _ in range(300): threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
        except RuntimeError: os._exit(0)
        escaped('300 threads')
        """,
    ),
    Escape("memory bomb", "held = [bytearray(b'x' * 2**20) for _ in range(2000)]; escaped('2 GB')", seconds=20.0),
    Escape(
        "memory bomb of many processes",
        """
        children = [spawn(lambda: (bytearray(b'x' * 30 * 2**20), time.sleep(4))) for _ in range(60)]
        time.sleep(3)
        alive = sum(os.waitpid(one, os.WNOHANG)[0] == 0 for one in children)
        alive == 60 and escaped('1800 MB')
        """,
        seconds=20.0,
    ),
    Escape(
        "shared memory bomb",
        "held = mmap.mmap(-1, 2**31)\nfor at in range(0, 2**31, 4096): held[at] = 1\nescaped('2 GB')",
        seconds=20.0,
    ),
    Escape(
        "memory file bomb",
        """
        files = [os.memfd_create(str(number)) for number in range(20)]
        tries(lambda: [os.write(fd, bytes(2**20)) for fd in files for _ in range(100)])
        """,
        seconds=20.0,
    ),
    Escape("tmp bomb", "tries(lambda: [write(f'/tmp/{n}', 'x' * 2**20) for n in range(100)])"),
    Escape("shared folder bomb", "tries(lambda: [write(f'/dev/shm/{n}', 'x' * 2**20) for n in range(100)])"),
    Escape("disk bomb", "tries(lambda: [write(f'{n}', 'x' * 2**23) for n in range(100)])"),
    Escape(
        "disk bomb of one file",
        """
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        file = open('big', 'wb')
        tries(lambda: [file.write(bytes(2**23)) for _ in range(100)])
        """,
    ),
    Escape(
        "sparse file",
        """
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        file = open('hole', 'wb')
        tries(file.truncate, 2**40)
        """,
    ),
    Escape("file count bomb", "tries(lambda: [write(f'n{n}', '') for n in range(60000)])", seconds=30.0),
    Escape("file handle bomb", "held = []; tries(lambda: [held.append(os.dup(0)) for _ in range(10000)])"),
    Escape("output bomb", "while True: os.write(1, b'x' * 65536)", limit="output"),
    Escape("error bomb", "while True: os.write(2, b'\\0' * 65536)", limit="output"),
    Escape(
        "queue bomb",
        """
        shmget, shmat = libc.shmget, libc.shmat
        shmat.restype = ctypes.c_void_p
        for number in range(16):
            one = shmget(0, 2**27, 0o1600)
            if one < 0: os._exit(0)
            ctypes.memset(shmat(one, None, 0), 1, 2**27)
        escaped('2 GB')
        """,
        seconds=20.0,
    ),
    Escape("deep folders", "try:\n for _ in range(3000): os.mkdir('d'); os.chdir('d')\nexcept OSError: pass"),
    Escape(
        "names that no text has",
        "for name in (b'\\xff\\xfe', b'a\\nb', b'x' * 255, '\\u202egnp.txt'.encode()): open(name, 'w').close()",
    ),
)

PROCESSES = (
    Escape("daemon", "spawn(lambda: (os.setsid(), spawn(lambda: time.sleep(3600))))"),
    Escape("daemon that holds the output", "spawn(lambda: (os.setsid(), time.sleep(3600)))"),
    Escape(
        "daemon below a subreaper",
        "libc.prctl(36, 1, 0, 0, 0); spawn(lambda: (os.setsid(), spawn(lambda: time.sleep(3600)))); time.sleep(0.1)",
    ),
    Escape(
        "signals to process 1", "for number in (15, 2, 1, 9, 19, 6, 11, 17, 10): os.kill(1, number)\ntime.sleep(0.2)"
    ),
    Escape("signals to all", "signal.signal(15, signal.SIG_IGN); tries(os.kill, -1, 15); tries(os.kill, -1, 9)"),
    Escape(
        "deaf to signals",
        """
        for number in range(1, 65):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        while True: time.sleep(1)
        """,
        limit="time",
        seconds=1.0,
    ),
    Escape("stopped", "os.kill(0, signal.SIGSTOP)", limit="time", seconds=1.0),
    Escape("without files", "os.closerange(0, 1000)\nwhile True: time.sleep(1)", limit="time", seconds=1.0),
    Escape(
        "orphans that end", "for _ in range(300):\n child = spawn(lambda: spawn(lambda: None))\n os.waitpid(child, 0)"
    ),
    Escape(
        "forged end on the output",
        """
        raw = b'{"kind": "ended", "code": 0, "limit": null, "seconds": 0}'
        os.write(1, struct.pack('>I', len(raw)) + raw)
        os._exit(7)
        """,
    ),
    Escape(
        "forged frames on all files",
        """
        raw = struct.pack('>I', 2**31) + b'x' * 99
        for fd in range(3, 1024):
            try: os.write(fd, raw)
            except OSError: pass
            else: escaped(f'file {fd}')
        """,
    ),
)

ESCAPES = (*NETWORK, *FILES, *MOUNTS, *KERNEL, *PRIVILEGES, *BOMBS, *PROCESSES)
