-- What people have answered and want to be remembered.
CREATE TABLE grants (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    agent TEXT,
    -- The place as JSON, in which equal places are equal texts.
    place TEXT NOT NULL,
    expires_at_ms INTEGER,
    -- The grant as JSON.
    body TEXT NOT NULL
) STRICT;
CREATE INDEX grants_of_place ON grants (place, agent);

-- Calls that wait for a person, and what is left of those that were gone on with.
CREATE TABLE pending (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    digest TEXT NOT NULL,
    run TEXT NOT NULL,
    asked_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER,
    claimed_at_ms INTEGER,
    -- The call as JSON, until it is claimed.
    body TEXT,
    -- The answer as JSON, until the call is claimed.
    answer TEXT,
    CHECK ((claimed_at_ms IS NULL) = (body IS NOT NULL)),
    CHECK (answer IS NULL OR body IS NOT NULL)
) STRICT;
CREATE INDEX pending_waiting ON pending (asked_at_ms) WHERE claimed_at_ms IS NULL;

-- Who let which call run, what it touched and how it ended.
CREATE TABLE journal (
    seq INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    call TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    -- The record as JSON.
    body TEXT NOT NULL
) STRICT;
CREATE INDEX journal_of_run ON journal (run);
CREATE INDEX journal_of_call ON journal (call);
CREATE INDEX journal_at ON journal (at_ms);

-- Runs that another process can go on with.
CREATE TABLE runs (
    run TEXT PRIMARY KEY NOT NULL,
    revision INTEGER NOT NULL,
    agent TEXT,
    started_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    status TEXT NOT NULL,
    state TEXT NOT NULL,
    host TEXT NOT NULL
) STRICT;
CREATE INDEX runs_at ON runs (updated_at_ms);
