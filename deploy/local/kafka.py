"""A one-node Apache Kafka 4.1 in KRaft mode, from its Maven packages: it starts on free ports and stops at the end.

For tests of recovery it can be stopped, killed, frozen, and started again on the same ports and data. `secured=True`
adds listeners with TLS and with SASL; their keys are made for the run. `closed=True` makes the broker of
docker-compose.yaml: it refuses anonymous clients, and each service has a user with a new password and its own rights.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import uuid
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

import yaml
from typing_extensions import override

from deploy.local.cache import Unprovided, built, home, in_memory
from deploy.local.certificates import Certificates, certificates
from deploy.local.ports import free_port
from deploy.local.served import LocalServer, killed_with_us, run_build
from services import catalog

VERSION = "4.1.0"
ROOT = Path(__file__).parents[2]
COMPOSED = re.compile(r"KAFKA_(SASL|LISTENER_(NAME|SECURITY)|INTER_BROKER|AUTHORIZER|SUPER)_")
"""The variables of docker-compose.yaml by which its broker is closed."""
POM = Path(__file__).with_name("kafka.pom.xml")
DUMP_SECONDS = 180.0
CLASSES = "classes.jsa"
LOGS_KEPT = 20
TOOL_SECONDS = 240.0
HEAP = ("-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError")
BRISK = "-XX:TieredStopAtLevel=1"
"""Use only the fast compiler: it halves the time of a start, and tests start often."""
USER, PASSWORD = "suma", "kafka-password-of-a-test"

SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{host}:{controller}
controller.listener.names=CONTROLLER
listeners={listeners},CONTROLLER://{host}:{controller}
advertised.listeners={advertised}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAIN:PLAINTEXT,TLS:SSL,SASL:SASL_SSL
inter.broker.listener.name=PLAIN
log.dirs={data}
num.network.threads=2
num.io.threads=4
auto.create.topics.enable=false
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
log.index.size.max.bytes=1048576
log.cleaner.dedupe.buffer.size=4194304
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=500
broker.heartbeat.interval.ms=300
broker.session.timeout.ms=1500
controlled.shutdown.enable=false
metadata.max.idle.interval.ms=5000
"""
SECURITY = """\
ssl.keystore.type=PEM
ssl.keystore.location={server}
ssl.truststore.type=PEM
ssl.truststore.location={authority}
listener.name.tls.ssl.client.auth=required
listener.name.sasl.sasl.enabled.mechanisms=SCRAM-SHA-256,PLAIN
listener.name.sasl.scram-sha-256.sasl.jaas.config=\
org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.sasl.plain.sasl.jaas.config=\
org.apache.kafka.common.security.plain.PlainLoginModule required user_{user}="{password}";
"""
LOGGING = """\
rootLogger.level=INFO
rootLogger.appenderRef.out.ref=OUT
appender.out.type=Console
appender.out.name=OUT
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=[%d] %p %m (%c)%n
"""
TOOL_LOGGING = LOGGING.replace("INFO", "ERROR").replace(
    "appender.out.name", "appender.out.target=SYSTEM_ERR\nappender.out.name"
)


class KafkaFailed(Exception):
    """The broker or one of its tools failed; see its log."""


@dataclass
class Kafka(LocalServer):
    """A broker. Its log is the output since `kafka()`; the file outlives the broker."""

    folder: Path
    log: Path
    port: int
    tls_port: int = 0
    sasl_port: int = 0
    certificates: Certificates | None = None
    passwords: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The passwords of a closed broker's users, by the last part of their names."""
    host: str = "127.0.0.1"
    options: Sequence[str] = (*HEAP, BRISK)
    """Options of the Java VM."""
    ready_seconds, stop_seconds = 180.0, 20.0

    @property
    def bootstrap(self) -> str:
        """The address of the listener without authentication."""
        return f"{self.host}:{self.port}"

    @property
    def tls(self) -> str:
        """The address of the TLS listener, which requires a certificate of `certificates`."""
        return f"{self.host}:{self.tls_port}"

    @property
    def sasl(self) -> str:
        """The address of the SASL listener, which requires `USER` and `PASSWORD` (SCRAM-SHA-256 or PLAIN, over TLS)."""
        return f"{self.host}:{self.sasl_port}"

    @property
    def settings(self) -> str:
        return str(self.folder / "server.properties")

    @override
    def command(self) -> Sequence[str]:
        logging = _logging(self.folder / "log4j2.properties")
        return [*_java(), *self.options, *logging, "kafka.Kafka", self.settings]

    @override
    def failed(self, how: str) -> Exception:
        return KafkaFailed(f"Kafka {how}: see {self.log}")

    @override
    async def answers(self) -> bool:
        """Return whether the broker answers a request for its API versions, which it does only once it may serve."""
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
            async with asyncio.timeout(1.0):
                reader, writer = await asyncio.open_connection(self.host, self.port)
                try:
                    # Size, then API key 18, version 0, correlation id 1, no client id.
                    writer.write(bytes.fromhex("0000000a 0012 0000 00000001 ffff"))
                    return len(await reader.readexactly(8)) == 8
                finally:
                    writer.close()
        return False


@asynccontextmanager
async def kafka(
    folder: Path | None = None,
    *,
    secured: bool = False,
    closed: bool = False,
    advertised: int | None = None,
    java: Sequence[str] = (*HEAP, BRISK),
) -> AsyncIterator[Kafka]:
    """Yield a broker of its own. Data in a given folder is kept for the next broker there. `advertised` is the port
    that it announces to its clients. A closed one has its users' rights already.

    Raises:
        Unprovided: Java, Maven or the packages are missing.
    """
    await asyncio.to_thread(classes)
    with tempfile.TemporaryDirectory(prefix="suma-kafka-", dir=in_memory()) as temporary:
        broker = await _prepared(folder or Path(temporary), secured=secured, closed=closed, advertised=advertised)
        broker.options = (*java, *_from(classes()))
        try:
            await broker.start()
            if closed:
                await asyncio.to_thread(_give_rights, broker)
            yield broker
        finally:
            await broker.stop()


async def tool(main: str, *arguments: str) -> str:
    """Run one of Kafka's command line tools to its end, and return its output."""
    with tempfile.NamedTemporaryFile("w", suffix=".properties") as logging:
        logging.write(TOOL_LOGGING)
        logging.flush()
        child = await asyncio.create_subprocess_exec(
            *(*killed_with_us(), *_java()),
            *("-Xmx256m", "-XX:+UseSerialGC", BRISK, *archived()),
            *(*_logging(Path(logging.name)), main, *arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(TOOL_SECONDS):
                output, errors = await child.communicate()
        except BaseException as error:
            with suppress(ProcessLookupError):
                child.kill()
            if isinstance(error, TimeoutError):
                raise KafkaFailed(f"{main} did not finish within {TOOL_SECONDS:.0f} s") from None
            raise
    if child.returncode != 0:
        raise KafkaFailed(f"{main}: {errors.decode(errors='replace')}{output.decode(errors='replace')}")
    return output.decode()


@cache
def jars() -> Path:
    """Return the folder of Kafka's packages.

    Raises:
        Unprovided: as for `kafka`.
    """
    if shutil.which("java") is None:
        raise Unprovided("Kafka needs Java 17: install it (no `java` found)")
    return built(f"kafka-{VERSION}", _build)


def _build(draft: Path) -> None:
    if shutil.which("mvn") is None:
        raise Unprovided("Kafka is built from its Maven packages: install Maven (no `mvn` found)")
    command = ("mvn", "-q", "-B", "-f", str(POM), "dependency:copy-dependencies", "-DincludeScope=runtime")
    run_build([*command, f"-DoutputDirectory={draft}"], "Maven {} download Kafka's packages")


@cache
def classes() -> Path:
    """Return an archive of Kafka's loaded classes for this Java; it cuts a start to a third of the time.

    Raises:
        Unprovided: as for `kafka`.
    """
    return built(_classes_name(), lambda draft: asyncio.run(_dump(draft))) / CLASSES


def _classes_name() -> str:
    packages = jars()
    java = Path(shutil.which("java") or "").resolve()
    mark = sha256(f"{java} {java.stat().st_mtime_ns} {packages} {packages.stat().st_mtime_ns}".encode()).hexdigest()
    return f"kafka-{VERSION}-classes-{mark[:12]}"


def archived() -> tuple[str, ...]:
    """Return Java's options for the class archive of this Java; a missing archive only costs time."""
    return _from(home() / _classes_name() / CLASSES)


def _from(archive: Path) -> tuple[str, ...]:
    """Return Java's options for the class archive; without the file, classes are loaded as usual."""
    return (f"-XX:SharedArchiveFile={archive}", "-Xlog:cds=off", "-Xlog:cds+dynamic=off")


async def _dump(draft: Path) -> None:
    """Run a broker that writes the class archive when it ends; without the archive a start only takes longer."""
    with tempfile.TemporaryDirectory(prefix="suma-kafka-") as temporary:
        broker = await _prepared(Path(temporary), secured=False)
        broker.options = (*broker.options, f"-XX:ArchiveClassesAtExit={draft / CLASSES}", "-Xlog:cds=off")
        try:
            await broker.start()
        finally:
            await broker.stop(DUMP_SECONDS)


def _give_rights(broker: Kafka) -> None:
    """Run deploy/kafka/provision.sh with the tool of our packages."""
    acls = broker.folder / "kafka-acls"
    logging = broker.folder / "tools.properties"
    logging.write_text(TOOL_LOGGING)
    command = (*_java(), BRISK, *archived(), *_logging(logging), "org.apache.kafka.tools.AclCommand")
    acls.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    acls.chmod(0o700)
    variables = {"KAFKA_ACLS": str(acls), "KAFKA_BROKER_PASSWORD": broker.passwords["broker"]}
    script = (ROOT / "deploy" / "kafka" / "provision.sh", broker.bootstrap)
    done = subprocess.run(script, env={**os.environ, **variables}, capture_output=True, text=True, timeout=TOOL_SECONDS)
    if done.returncode != 0:
        raise KafkaFailed(f"{script[0].name}: {done.stderr}{done.stdout}")


def _composed(passwords: Mapping[str, str]) -> str:
    """Return the security settings of the broker in docker-compose.yaml, named as its image does."""
    composed = yaml.safe_load((ROOT / "docker-compose.yaml").read_text())["services"]["kafka"]["environment"]
    given = {name.removeprefix("KAFKA_"): value for name, value in composed.items() if COMPOSED.match(name)}
    known = {f"KAFKA_{user.upper()}_PASSWORD": password for user, password in passwords.items()}
    filled = {
        name.lower().replace("_", "."): re.sub(r"\$\{(\w+)[^}]*\}", lambda found: known[found[1]], value)
        for name, value in given.items()
    }
    return "".join(f"{name}={value}\n" for name, value in filled.items())


async def _prepared(place: Path, *, secured: bool, closed: bool = False, advertised: int | None = None) -> Kafka:
    """Write the settings and format the storage, unless it is formatted already."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "log4j2.properties").write_text(LOGGING)
    plain, controller, tls, sasl = (free_port() for _ in range(4))
    door = "CLIENTS" if closed else "PLAIN"
    listeners, announced, security = [f"{door}://127.0.0.1:{plain}"], [f"{door}://127.0.0.1:{advertised or plain}"], ""
    broker = Kafka(place, _log(plain), plain)
    if closed:
        broker.passwords = {user: token_hex() for user in ("broker", *catalog.NAMES)}
        security = _composed(broker.passwords)
    if secured:
        broker.tls_port, broker.sasl_port = tls, sasl
        broker.certificates = made = certificates(place)
        secured_listeners = [f"TLS://127.0.0.1:{tls}", f"SASL://127.0.0.1:{sasl}"]
        listeners, announced = [*listeners, *secured_listeners], [*announced, *secured_listeners]
        security = SECURITY.format(server=made.server, authority=made.authority, user=USER, password=PASSWORD)
    settings = SETTINGS.format(
        host=broker.host,
        controller=controller,
        listeners=",".join(listeners),
        advertised=",".join(announced),
        data=place / "data",
    )
    with os.fdopen(os.open(broker.settings, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(settings + security)
    if not (place / "data" / "meta.properties").exists():
        await _format(broker, scram=secured)
    return broker


def _log(port: int) -> Path:
    """Create a log file for a broker, and delete all but the newest ones."""
    folder = home() / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    for old in sorted(folder.glob("kafka-*.log"), key=lambda log: log.stat().st_mtime)[:-LOGS_KEPT]:
        old.unlink(missing_ok=True)
    log = folder / f"kafka-{port}.log"
    log.write_bytes(b"")
    return log


async def _format(broker: Kafka, *, scram: bool) -> None:
    identity = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    # A leading dash would be parsed as an option.
    cluster = f"A{identity[1:]}"
    user = ("--add-scram", f"SCRAM-SHA-256=[name={USER},password={PASSWORD}]") if scram else ()
    await tool("kafka.tools.StorageTool", "format", "-t", cluster, "-c", broker.settings, *user)


def _java() -> list[str]:
    """Return the command for Java with Kafka's packages."""
    return ["java", "-cp", f"{jars()}/*"]


def _logging(settings: Path) -> list[str]:
    return [f"-Dlog4j2.configurationFile={settings}", "-Dlog4j2.disableJmx=true"]
