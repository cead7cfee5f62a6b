-- What of a large content comes behind the bytes that stand in its row, in pieces, so that none is in memory whole.
CREATE TABLE content_piece (
    digest TEXT NOT NULL REFERENCES content (digest) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (digest, number)
) STRICT;
