-- When what has to be done from time to time was done last.
CREATE TABLE upkeep (
    what TEXT PRIMARY KEY NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX pending_of_run ON pending (run);
