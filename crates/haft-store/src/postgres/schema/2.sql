-- The run that started the one of a record, if one did.
ALTER TABLE journal ADD COLUMN parent TEXT;
-- A quote within a text is written as \", so that this is a member wherever it stands.
UPDATE journal SET parent = substring(body FROM '"parent_run":"([^"\\]*)"') WHERE body LIKE '%"parent_run":"%';
-- By which old ones are found.
CREATE INDEX journal_at ON journal (at_ms);
CREATE INDEX journal_of_parent ON journal (parent, run) WHERE parent IS NOT NULL;

-- Runs that other runs have started.
CREATE TABLE children (
    run TEXT PRIMARY KEY,
    -- The run at the top of the tree.
    root TEXT NOT NULL,
    -- Their order within the tree.
    seq BIGINT GENERATED ALWAYS AS IDENTITY,
    updated_at_ms BIGINT NOT NULL,
    -- Both as JSON; there is no head before it is known where the run stands.
    record TEXT NOT NULL,
    head TEXT,
    -- How many entries of the log belong to the head.
    entries BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX children_of_root ON children (root, seq);

-- The logs of these runs.
CREATE TABLE child_log (
    run TEXT NOT NULL REFERENCES children (run) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    -- The entry as JSON.
    body TEXT NOT NULL,
    PRIMARY KEY (run, seq)
);

-- When something was last done that is done once in a while.
CREATE TABLE upkeep (
    what TEXT PRIMARY KEY,
    at_ms BIGINT NOT NULL
);
