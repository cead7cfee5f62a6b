-- What people have answered and want to be remembered.
CREATE TABLE grants (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    agent TEXT,
    -- The place as JSON, in which equal places are equal texts.
    place TEXT NOT NULL,
    expires_at_ms BIGINT,
    -- The grant as JSON.
    body TEXT NOT NULL
);
CREATE INDEX grants_of_place ON grants (place, agent);

-- Calls that wait for a person, and what is left of those that were gone on with.
CREATE TABLE pending (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    digest TEXT NOT NULL,
    run TEXT NOT NULL,
    -- Whether it waits for calls below it, and no person is asked about it.
    is_below BOOLEAN NOT NULL,
    asked_at_ms BIGINT NOT NULL,
    expires_at_ms BIGINT,
    claimed_at_ms BIGINT,
    -- The call as JSON, until it is claimed. It is text, since `jsonb` takes no character U+0000.
    body TEXT,
    -- The answer as JSON, until the call is claimed.
    answer TEXT,
    CHECK ((claimed_at_ms IS NULL) = (body IS NOT NULL)),
    CHECK (answer IS NULL OR body IS NOT NULL)
);
CREATE INDEX pending_waiting ON pending (asked_at_ms) WHERE claimed_at_ms IS NULL;
CREATE INDEX pending_by_digest ON pending (digest) WHERE claimed_at_ms IS NULL;

-- Who let which call run, what it touched and how it ended.
CREATE TABLE journal (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run TEXT NOT NULL,
    call TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    -- The record as JSON.
    body TEXT NOT NULL
);
CREATE INDEX journal_of_run ON journal (run, seq);
CREATE INDEX journal_of_call ON journal (call, seq);

-- Runs that another process can go on with.
CREATE TABLE runs (
    run TEXT PRIMARY KEY,
    revision BIGINT NOT NULL,
    agent TEXT,
    started_at_ms BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    status TEXT NOT NULL,
    -- Both as JSON.
    state TEXT NOT NULL,
    host TEXT NOT NULL,
    entries BIGINT NOT NULL
);
CREATE INDEX runs_at ON runs (updated_at_ms);

-- The log of a run: entries that are only ever added.
CREATE TABLE run_log (
    run TEXT NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    -- The entry as JSON.
    body TEXT NOT NULL,
    PRIMARY KEY (run, seq)
);
