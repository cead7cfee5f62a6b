CREATE TABLE change_set (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL,
    parent_run TEXT,
    call TEXT NOT NULL,
    turn INTEGER,
    tool TEXT NOT NULL,
    root BLOB NOT NULL,
    at_ms INTEGER NOT NULL,
    -- The process that is at work on it, while one is.
    session TEXT,
    -- 0 open, 1 done, 2 torn; one that was rolled back is removed.
    state INTEGER NOT NULL,
    undone_by INTEGER
) STRICT;

CREATE INDEX change_set_by_run ON change_set (run);
CREATE INDEX change_set_by_parent ON change_set (parent_run) WHERE parent_run IS NOT NULL;
CREATE INDEX change_set_open ON change_set (root) WHERE state = 0;
CREATE INDEX change_set_undone ON change_set (undone_by) WHERE undone_by IS NOT NULL;

-- What a set was begun to undo.
CREATE TABLE undoing (
    change_set INTEGER NOT NULL REFERENCES change_set (id) ON DELETE CASCADE,
    undoes INTEGER NOT NULL,
    PRIMARY KEY (change_set, undoes)
) STRICT, WITHOUT ROWID;

CREATE TABLE step (
    change_set INTEGER NOT NULL REFERENCES change_set (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    body TEXT NOT NULL,
    before TEXT,
    after TEXT,
    PRIMARY KEY (change_set, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX step_before ON step (before) WHERE before IS NOT NULL;
CREATE INDEX step_after ON step (after) WHERE after IS NOT NULL;

CREATE TABLE content (
    digest TEXT PRIMARY KEY NOT NULL,
    size INTEGER NOT NULL,
    bytes BLOB NOT NULL
) STRICT;

CREATE INDEX content_size ON content (size);
