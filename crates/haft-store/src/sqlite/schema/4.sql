-- The log of a run: entries that are only ever added.
CREATE TABLE run_log (
    run TEXT NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    -- The entry as JSON.
    body TEXT NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT;
ALTER TABLE runs ADD COLUMN entries INTEGER NOT NULL DEFAULT 0;
