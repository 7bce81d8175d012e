from __future__ import annotations

import os

from hypothesis import settings

from tests.postgres import postgres_server, postgres_url  # noqa: F401  fixtures for every test

# By hand every run looks at other examples; where a red run blocks others it looks at the same ones each time.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("hand", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "hand")
