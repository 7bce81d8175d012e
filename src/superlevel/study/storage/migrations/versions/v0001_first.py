"""Studies, their entries and their open tickets."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the three tables."""
    op.create_table(
        "studies",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("length", sa.Integer, nullable=False),
        sa.Column("format", sa.Integer, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("noted_seq", sa.Integer),
        sa.Column("noted", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_studies"),
        sa.UniqueConstraint("name", name="uq_studies_name"),
    )
    op.create_table(
        "entries",
        sa.Column("study_id", sa.Integer, nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("study_id", "seq", name="pk_entries"),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name="fk_entries"),
    )
    op.create_table(
        "tickets",
        sa.Column("study_id", sa.Integer, nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("worker", sa.Text),
        sa.Column("until", sa.Float),
        sa.PrimaryKeyConstraint("study_id", "number", name="pk_tickets"),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name="fk_tickets"),
    )
