-- Runs that other runs started; those at the top of their trees are in `runs`.
CREATE TABLE children (
    run TEXT PRIMARY KEY,
    -- The run at the top of its tree, which need not be kept.
    root TEXT NOT NULL,
    -- Its place among those of its tree, in the order in which they were first kept.
    seq INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    -- What is known of it, as JSON.
    record TEXT NOT NULL,
    -- Where it stands, as JSON, once that was kept, and how many entries of its log belong to that.
    head TEXT,
    entries INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX children_of_tree ON children (root, seq);
-- The logs of these runs: entries that are only ever added.
CREATE TABLE child_log (
    run TEXT NOT NULL REFERENCES children (run) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    -- The entry as JSON.
    body TEXT NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT;
