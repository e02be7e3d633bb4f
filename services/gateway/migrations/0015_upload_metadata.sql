-- An upload's metadata as its client sent them: tus returns them with its offset.
alter table gateway.uploads add column metadata text;
alter table gateway.attachments add column metadata text;
