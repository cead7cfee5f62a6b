-- The other roots that there were, as a JSON array of paths; nothing where there were none.
ALTER TABLE change_set ADD COLUMN other_roots TEXT;
