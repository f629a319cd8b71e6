"""Opening a database: its address, its settings, its schema, and who may write to it."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from shortlist.errors import DatabaseInUse, InvalidParameter, NewerDatabase, StoreUnavailable

__all__ = [
    "check_schema",
    "default_address",
    "is_held",
    "make_engine",
    "migrate",
    "only_writer",
    "shown_address",
    "sqlite_path",
    "translated",
]

#: For how many milliseconds SQLite waits for a lock.
BUSY_TIMEOUT: Final = 10_000
_MIGRATIONS: Final = Path(__file__).parent / "migrations"
#: PostgreSQL's advisory lock for migrations: "shortlist" as a number.
_MIGRATION_LOCK: Final = 0x5110_7115


def default_address() -> str:
    """Return the address of the database in the user's data directory."""
    import platformdirs  # noqa: PLC0415 - only where no address is given

    return f"sqlite:///{Path(platformdirs.user_data_dir('shortlist', appauthor=False)) / 'shortlist.db'}"


def make_engine(address: str, *, read_only: bool = False) -> sa.Engine:
    """Return an engine for ``sqlite:///file`` or ``postgresql://...``, with one connection."""
    url = _parse(address)
    if url.get_backend_name() == "postgresql":
        return _postgresql(url.set(drivername="postgresql+psycopg"), read_only=read_only)
    path = Path(url.database or "")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidParameter(f"the folder {path.parent} cannot be made: {error.strerror}") from None
    return _sqlite(url, read_only=read_only)


def _parse(address: str) -> sa.URL:
    remedy = "give sqlite:///file or postgresql://user@host/name"
    try:
        url = sa.make_url(address)
    except sa.exc.ArgumentError:
        raise InvalidParameter(f"the database address cannot be read; {remedy}") from None
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise InvalidParameter(f"the database is of kind {url.get_backend_name()!r}; {remedy}")
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        raise InvalidParameter(f"the database has no file, and nothing would be kept; {remedy}")
    return url


def shown_address(address: str) -> str:
    """Return an address without its password."""
    return _parse(address).render_as_string(hide_password=True)


def sqlite_path(address: str) -> Path | None:
    """Return the file of a SQLite database; None of another one."""
    url = _parse(address)
    return Path(url.database or "") if url.get_backend_name() == "sqlite" else None


def _sqlite(url: sa.URL, *, read_only: bool) -> sa.Engine:
    engine = sa.create_engine(
        url.set(drivername="sqlite+pysqlite"),
        poolclass=sa.pool.StaticPool,
        connect_args={"check_same_thread": False, "timeout": 10.0},
    )

    @sa.event.listens_for(engine, "connect")
    def _connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # transactions are begun below, not guessed by the driver
        connection.text_factory = _text
        if not read_only:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten
            connection.execute("PRAGMA journal_size_limit = 67108864")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT}")
        if read_only:
            connection.execute("PRAGMA query_only = ON")

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")

    return engine


def _text(stored: bytes) -> str:
    """Return a text as it is stored, so that bytes that are not text can be reported where they matter."""
    return stored.decode("utf-8", "surrogateescape")


def _postgresql(url: sa.URL, *, read_only: bool) -> sa.Engine:
    engine = sa.create_engine(
        url,
        poolclass=sa.pool.QueuePool,
        pool_size=1,
        max_overflow=0,
        pool_pre_ping=True,
        isolation_level="REPEATABLE READ" if read_only else "READ COMMITTED",
        connect_args={"connect_timeout": 5, "tcp_user_timeout": 15_000, "application_name": "shortlist"},
    )

    @sa.event.listens_for(engine, "connect")
    def _connect(connection: Any, _record: Any) -> None:
        connection.execute("SET synchronous_commit = on")  # whatever the server's default is
        # One process that hangs must not hang all the others: what it holds is tried again later.
        connection.execute("SET lock_timeout = '250ms'")
        connection.execute("SET idle_in_transaction_session_timeout = '30s'")
        if read_only:
            connection.execute("SET default_transaction_read_only = on")
        connection.commit()

    return engine


def migrate(engine: sa.Engine) -> None:
    """Bring the schema up to this version's; refuse one that is newer."""
    config = _config()
    with translated(), engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(sa.text("SET LOCAL lock_timeout = '30s'"))
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
        _found(connection, config)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def check_schema(engine: sa.Engine) -> None:
    """Refuse a database that this version cannot read."""
    path = engine.url.database or ""
    where = engine.url.render_as_string(hide_password=True).replace("+pysqlite", "").replace("+psycopg", "")
    empty = StoreUnavailable(f"there is no log in {where}; `shortlist serve` makes one, or give another --database")
    if engine.dialect.name == "sqlite" and not Path(path).exists():
        raise empty
    config = _config()
    with translated(), engine.begin() as connection:
        schema = _found(connection, config)
    if schema is None:
        raise empty
    if schema != ScriptDirectory.from_config(config).get_current_head():
        raise StoreUnavailable(f"the database has the older schema {schema}; `shortlist serve` brings it up to date")


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    return config


def _found(connection: sa.Connection, config: Config) -> str | None:
    """Return the database's schema, if it has one that is not newer than all we know."""
    schemas = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    heads = MigrationContext.configure(connection).get_current_heads()
    if len(heads) > 1:
        raise StoreUnavailable(f"the database has {len(heads)} schemas at once, and must have one: restore a backup")
    schema = heads[0] if heads else None
    if schema is not None and schema not in schemas:
        raise NewerDatabase(
            f"the database has schema {schema}, and this shortlist knows up to {max(schemas)}: upgrade shortlist, "
            "or give another --database"
        )
    return schema


def is_held(error: sa.exc.DBAPIError) -> bool:
    """Return whether PostgreSQL gave up waiting for what another process holds."""
    return getattr(error.orig, "sqlstate", None) == "55P03"  # lock_not_available


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Turn what a database driver raises into one line without SQL."""
    try:
        yield
    except (sa.exc.DBAPIError, UnicodeDecodeError) as error:
        raise refusal_of(error) from error


def refusal_of(error: sa.exc.DBAPIError | UnicodeDecodeError) -> StoreUnavailable:
    """Return what to tell of a driver's error: its first line, never the statement."""
    if isinstance(error, UnicodeDecodeError):  # of a column's name, or of what SQLite says of it
        return StoreUnavailable("the database is damaged: what a table is called is no text; restore a backup")
    lines = str(error.orig).strip().splitlines() or [type(error.orig).__name__]
    if "not a database" in lines[0]:
        return StoreUnavailable("the file is not a database; give another --database")
    return StoreUnavailable(f"the database did not accept this ({lines[0]}); nothing was stored: try again later")


@contextlib.contextmanager
def only_writer(address: str) -> Iterator[None]:
    """Hold a SQLite file for writing: two writers at once can corrupt it."""
    locked = sqlite_path(address)
    if locked is None:
        yield
        return
    path = Path(f"{os.path.realpath(locked)}.lock")  # one lock a file, whatever it is called
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        opened = os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w")
    except OSError as error:
        raise InvalidParameter(f"{path} cannot be written: {error.strerror}; give another --database") from None
    with opened as file:
        if not _lock(file):
            raise DatabaseInUse(
                f"{locked} is in use by another shortlist; stop that one, give another --database, or use "
                "PostgreSQL, which many may share"
            )
        yield


def _lock(file: IO[str]) -> bool:
    if os.name != "posix":
        return True  # SQLite's own locks are all there is
    import fcntl  # noqa: PLC0415 - not on every system

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
