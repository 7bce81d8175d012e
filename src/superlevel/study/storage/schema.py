"""The tables of a SQL store.

Texts are TEXT, never JSON types, which would put keys in another order: digests are of the text to the byte. Only open
tickets have a row, so that the table stays as small as the work that is left.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, ForeignKey, Integer, LargeBinary, MetaData, Table, Text

FORMAT = 1
"""Of the entries of a log: a study whose format is larger was written by a newer version."""
REVISIONS = ("0001",)
"""Of the tables, oldest first; the last one is what this version reads and writes."""
VERSION_TABLE = "superlevel_version"
"""Says the revision of a store; a database without it is not ours."""

METADATA = MetaData(
    naming_convention={
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s",
    }
)

STUDIES = Table(
    "studies",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("length", Integer, nullable=False),
    Column("format", Integer, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("noted_seq", Integer),
    # Last, because it is long: SQLite then changes the length without writing the note again.
    Column("noted", Text),
)

ENTRIES = Table(
    "entries",
    METADATA,
    Column("study_id", Integer, ForeignKey(STUDIES.c.id), primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("payload", Text, nullable=False),
    Column("digest", Text, nullable=False),
)

TICKETS = Table(
    "tickets",
    METADATA,
    Column("study_id", Integer, ForeignKey(STUDIES.c.id), primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("worker", Text),
    Column("until", Float),
)

LATER = MetaData()
"""Tables that are made when they are first needed: a store without them is complete, and older versions ignore them."""

SNAPSHOTS = Table(
    "snapshots",
    LATER,
    Column("study_id", Integer, primary_key=True, autoincrement=False),
    Column("seq", Integer, nullable=False),
    Column("text", Text, nullable=False),
)

ATTACHMENTS = Table(
    "attachments",
    LATER,
    Column("study_id", Integer, primary_key=True, autoincrement=False),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("data", LargeBinary, nullable=False),
)
"""What is stored beside an entry, which names its digest."""
