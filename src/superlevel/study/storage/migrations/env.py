"""Alembic runs this file; `upgrades` hands it the connection, which is in a transaction already."""

from __future__ import annotations

from alembic import context

from superlevel.study.storage.schema import METADATA, VERSION_TABLE

if hasattr(context, "config"):  # Alembic sets it while it runs; whoever only imports this file wants nothing done
    context.configure(
        connection=context.config.attributes["connection"], target_metadata=METADATA, version_table=VERSION_TABLE
    )
    context.run_migrations()
