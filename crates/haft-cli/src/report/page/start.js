head();
totals();
notes();
agents();
setUpDetail();
setUpTimeline();
setUpRows();
document.documentElement.dataset.ready = 'yes';
