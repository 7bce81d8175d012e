"""`superlevel study close`: the end of a campaign."""

from __future__ import annotations

from superlevel.cli.study import common


def run(
    name: common.Name,
    *,
    reason: common.Reason = "",
    sign: common.Sign = None,
    store: common.Store = common.DEFAULT_STORE,
) -> None:
    """End the study with the labels of now. Nothing is suggested any more; late results are still taken.

    Example: superlevel study close harbour --reason "the ship is needed elsewhere"
    """
    storage, study = common.opened(store, name, sign=sign)
    before = common.known_before(study)
    with common.working("computing the last labels"):
        study.close(reason=reason)
    console = common.screen()
    common.say(console, f"closed study {name!r} (entry {study.ledger.length:,} of the log)")
    common.say_head(console, study)
    common.say(console, str(common.decide(study, before)))
    common.say(console, f"next: {common.command(store, storage, 'study', 'report', name)}")
