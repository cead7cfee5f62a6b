CREATE INDEX pending_by_digest ON pending (digest) WHERE claimed_at_ms IS NULL;
