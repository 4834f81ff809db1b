export default { render: () => undefined };
