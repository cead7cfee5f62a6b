head();
totals();
notes();
agents();
turns();
setUpDetail();
setUpTimeline();
setUpRows();
document.documentElement.dataset.ready = 'yes';
