"""One file a revision; `schema.REVISIONS` names them all."""
